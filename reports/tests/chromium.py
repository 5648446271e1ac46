"""A headless Chromium, asked over its DevTools pipe: one page at a time, and all that it did.

Nothing but the browser is needed: messages are JSON texts, each ended by a NUL, on two pipes. The page is
opened from a file, with the network switched off by command line; what it asks for all the same is recorded.

https://chromedevtools.github.io/devtools-protocol/
"""

import base64
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LIMIT_S = 60.0
_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-extensions", "--disable-background-networking", "--disable-component-update"),
    *("--hide-scrollbars", "--proxy-server=127.0.0.1:9", "--remote-debugging-pipe"),
)

_START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""The browser reads from descriptor 3 and writes to 4: this puts them there."""


class BrowserError(Exception):
    """The browser said no, said nothing in time, or is gone."""


class Page:
    """A page in the browser. `asked` are the addresses that it asked for, `said` what came on its console."""

    def __init__(self, to: int, come: int) -> None:
        self.asked: list[str] = []
        self.said: list[str] = []
        self._to, self._come = to, come
        self._rest = b""
        self._number = 0
        self._session = ""
        self._loaded = False
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """What the browser answers to a command. BrowserError if it refuses."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode("ascii") + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, path: Path, *, width: int = 1300, height: int = 900, dark: bool = False) -> None:
        """Opens a file and waits until it has loaded."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.send("Emulation.setEmulatedMedia", media="", features=[scheme, still])
        self._loaded = False
        self.send("Page.navigate", url=path.resolve().as_uri())
        while not self._loaded:
            self._next()

    def evaluate(self, expression: str) -> Any:
        """The value (as JSON) of an expression in the page, or of what it promises.

        This is the tests' own script, which the page's policy doesn't ask about.
        """
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise BrowserError(f"{expression}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def click(self, selector: str) -> None:
        """Clicks in the middle of the first line of an element, as a mouse does."""
        place = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center'}); const r = e.getClientRects()[0];"
            " return [r.left + r.width / 2, r.top + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1
            )

    def press(self, key: str, code: int) -> None:
        """Presses a key. `code` is its Windows virtual key code."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **text)

    def picture(self) -> bytes:
        """The whole page as PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def print(self) -> bytes:
        """The page on A4 paper as PDF."""
        return base64.b64decode(self.send("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"])

    def _next(self) -> dict[str, Any]:
        """The next message; what it tells of the page is noted."""
        deadline = time.monotonic() + LIMIT_S
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._come], [], [], max(0.0, deadline - time.monotonic()))
            read = os.read(self._come, 1 << 20) if ready else b""
            if not read:
                raise BrowserError("the browser is gone" if ready else f"no answer in {LIMIT_S:g} s")
            self._rest += read
        raw, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(raw)
        params = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.asked.append(params["request"]["url"])
            case "Runtime.consoleAPICalled":
                self.said.append(str(params["args"]))
            case "Runtime.exceptionThrown":
                self.said.append(str(params["exceptionDetails"]))
            case "Log.entryAdded":
                self.said.append(params["entry"]["text"])
            case "Page.loadEventFired":
                self._loaded = True
        return message


@contextlib.contextmanager
def browser(program: Path) -> Iterator[Page]:
    """A page in a fresh browser, which is ended with all its processes."""
    to_browser, our_end = os.pipe()
    our_ear, from_browser = os.pipe()
    with tempfile.TemporaryDirectory(prefix="holdtrue-chromium-", ignore_cleanup_errors=True) as profile:
        start = [sys.executable, "-c", _START, str(to_browser), str(from_browser), str(program)]
        process = subprocess.Popen(
            [*start, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(to_browser, from_browser),
            env={**os.environ, "HOME": profile},
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        try:
            yield Page(our_end, our_ear)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(our_end)
            os.close(our_ear)
