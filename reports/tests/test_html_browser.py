"""The audit page in a real browser: it is opened, clicked through, read by keyboard, pictured and printed.

Nothing may be fetched, nothing may run, nothing may come on the console, whatever the run was.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from reports.html import render
from reports.html.page import policy
from reports.tests.chromium import Page, browser
from reports.tests.examples import EXAMPLES, many
from reports.tests.tools import npm_package, tool

PNG, PDF = b"\x89PNG\r\n", b"%PDF-"


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser(Path(tool("chromium"))) as found:
        yield found


def shown(page: Page, path: Path, name: str, *, width: int = 1300, dark: bool = False) -> Path:
    """Opens an example's page; returns its file."""
    example = EXAMPLES[name]
    file = path / "audit.html"
    file.write_text(render(example.results, example.traces), encoding="utf-8")
    page.asked.clear()
    page.said.clear()
    page.open(file, width=width, dark=dark)
    return file


@pytest.mark.parametrize("name", EXAMPLES)
def test_everything_opens_and_every_link_within_the_page_leads_somewhere(
    name: str, page: Page, tmp_path: Path
) -> None:
    file = shown(page, tmp_path, name)
    for at in range(page.evaluate("document.querySelectorAll('details').length")):
        page.evaluate(f"document.querySelectorAll('details')[{at}].open = false")
    page.evaluate("document.querySelectorAll('summary').forEach(one => one.click())")
    assert page.evaluate("[...document.querySelectorAll('details')].every(one => one.open)")
    # The link that skips is out of sight until it is reached by keyboard, which is a test of its own.
    links = "document.querySelectorAll('a[href^=\"#\"]:not(.skip)')"
    addresses = page.evaluate(f"[...{links}].map(one => one.hash)")
    for address in dict.fromkeys(addresses):
        page.click(f"a[href='{address}']")
        assert page.evaluate("location.hash") == address
        assert page.evaluate(f"document.querySelector('{address}').getClientRects().length") > 0
    assert page.asked == [file.as_uri()]
    assert page.said == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_nothing_of_a_page_is_made_by_script_and_no_text_becomes_an_element(
    name: str, page: Page, tmp_path: Path
) -> None:
    file = shown(page, tmp_path, name)
    assert page.evaluate("document.scripts.length") == 0
    assert page.evaluate("document.querySelectorAll('iframe,object,embed,img,form,base').length") == 0
    assert page.evaluate(
        "[...document.querySelectorAll('*')].every(one => one.getAttributeNames().every("
        "name => !name.startsWith('on') && name !== 'style'))"
    )
    assert page.evaluate("getComputedStyle(document.body).marginTop") == "0px", "the style sheet is allowed"
    assert (page.asked, page.said) == ([file.as_uri()], [])


def test_script_that_got_through_would_not_run_and_what_it_fetches_would_be_refused(
    page: Page, tmp_path: Path
) -> None:
    file = shown(page, tmp_path, "passed")
    evil = "<script>document.title = 'ran'</script><img src='nowhere.png'><p onclick=1 style='color:red'>"
    text = file.read_text("utf-8")
    file.write_text(text.replace("</main>", f"{evil}</main>"), encoding="utf-8")
    page.open(file)
    assert page.evaluate("document.title") != "ran"
    assert page.said, "the browser says what it has refused"
    assert all("Content Security Policy" in one for one in page.said)
    file.write_text(text.replace("</main>", f"{evil}</main>").replace(policy(), "script-src 'unsafe-inline'"))
    page.open(file)
    assert page.evaluate("document.title") == "ran", "without the policy it would"
    assert any("nowhere.png" in one for one in page.asked)


def test_by_keyboard_one_skips_to_the_verdict_and_opens_a_story(page: Page, tmp_path: Path) -> None:
    shown(page, tmp_path, "violated")
    page.press("Tab", 9)
    assert page.evaluate("document.activeElement.textContent") == "Skip to the verdict"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0, "it comes into sight"
    page.press("Enter", 13)
    assert page.evaluate("document.activeElement.id") == "main"
    page.evaluate("document.querySelector('#counterexample-2 > summary').focus()")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.press("Enter", 13)
    assert page.evaluate("document.querySelector('#counterexample-2').open")


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("width", [320, 390, 1300])
def test_the_page_is_never_wider_than_its_window(name: str, width: int, page: Page, tmp_path: Path) -> None:
    shown(page, tmp_path, name, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_checker_of_accessibility_finds_nothing(name: str, dark: bool, page: Page, tmp_path: Path) -> None:
    checker = (npm_package("axe-core") / "axe.min.js").read_text("utf-8")
    shown(page, tmp_path, name, dark=dark)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    page.evaluate(f"{checker}; 0")
    asked = "axe.run(document).then(found => found.violations.map(one => `${one.id}: ${one.nodes[0].html}`))"
    assert page.evaluate(asked) == []
    page.evaluate("document.querySelector('h1').remove(); document.documentElement.removeAttribute('lang')")
    assert any(one.startswith("html-has-lang") for one in page.evaluate(asked)), "it does find things"


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_picture_is_taken_in_light_and_in_dark(name: str, page: Page, tmp_path: Path) -> None:
    shown(page, tmp_path, name)
    light = page.picture()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    shown(page, tmp_path, name, dark=True)
    dark = page.picture()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    assert light.startswith(PNG)
    assert dark.startswith(PNG)
    assert light != dark


def test_on_paper_it_is_light_and_all_that_is_closed_is_open(page: Page, tmp_path: Path) -> None:
    shown(page, tmp_path, "violated", dark=True)
    assert page.print().startswith(PDF)
    page.send("Emulation.setEmulatedMedia", media="print", features=[])
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(
        "[...document.querySelectorAll('details > :not(summary)')].every("
        "one => one.checkVisibility({contentVisibilityAuto: true}))"
    )
    page.send("Emulation.setEmulatedMedia", media="screen", features=[])
    assert not page.evaluate(
        "document.querySelector('#counterexample-2 article').checkVisibility({contentVisibilityAuto: true})"
    ), "on screen it is closed"


def test_a_run_with_a_thousand_counterexamples_can_be_opened_too(page: Page, tmp_path: Path) -> None:
    example = many(1000)
    file = tmp_path / "audit.html"
    file.write_text(render(example.results, example.traces), encoding="utf-8")
    page.open(file)
    assert page.evaluate("document.querySelectorAll('.counterexample').length") == 24
    assert page.evaluate("document.querySelectorAll('main a[href^=\"traces/\"]').length") >= 1000
