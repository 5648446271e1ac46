"""`--target COMMAND`: checks and replays of a store in another process.

The command is greeted once before anything is planned, so that what is planned fits what the target can do. A
command that can't be greeted is a usage error that says what was wrong; what goes wrong later is a finding.
"""

import tempfile
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from holdtrue.exits import UsageError
from holdtrue.out import Printer
from holdtrue.performing import Performed, Status, whole
from holdtrue.phases import Phase
from holdtrue.replay import greet, tell_status
from holdtrue.tracefile import read_json
from reports.plain import safe
from reports.story import render_story
from stateful_tests.wire import policy as policies
from stateful_tests.wire.capabilities import Greeting
from stateful_tests.wire.faults import TargetFaultError
from stateful_tests.wire.process import argv_of
from stateful_tests.wire.runners import Aim
from stateful_tests.wire.target import REPLY_LIMIT_S, Command, Session


def aim_of(asked: Mapping[str, Any]) -> Aim:
    """What `--target`, `--policy` and `--reply-limit` ask for. UsageError if that can't be."""
    command, policy = asked["target"], asked.get("policy")
    try:
        argv_of(command, Path("DIRECTORY"))
    except ValueError as error:
        raise UsageError(f"--target {command!r} is no command line: {error}") from error
    try:
        declared = policies.Policy() if policy is None else policies.load(Path(policy))
    except policies.PolicyError as error:
        raise UsageError(str(error)) from error
    return Aim(Command(command, asked.get("reply_limit") or REPLY_LIMIT_S), declared)


def greeted(aim: Aim) -> Greeting:
    """What the target says of itself. UsageError if it can't be asked."""
    with tempfile.TemporaryDirectory(prefix="holdtrue-greeting-") as root:
        try:
            talk, greeting = Session(aim.command).greet(Path(root) / "store")
        except TargetFaultError as fault:
            raise UsageError(
                f"{aim.command.text!r} is no target that can be checked: {fault}. "
                "docs/protocol.md says what a target answers; start the command by hand and type "
                '{"id": 1, "do": "hello", "protocol": 1}'
            ) from fault
        talk.process.end()
        return greeting


def phases_of(asked: Mapping[str, Any], printer: Printer | None = None) -> tuple[Phase, ...]:
    """The phases of a check of the target that `asked` names."""
    from crash_tests.wire import calls
    from crash_tests.wire.jobs import plan_kills
    from stateful_tests.wire.jobs import plan_conformance, plan_corpus

    other = sorted(set(asked.get("only") or ()) - {"corpus", "conformance", "kills"})
    if other:
        raise UsageError(
            f"--only {other[0]}: a target is checked in the phases corpus, conformance and kills"
        )
    aim = aim_of(asked)
    greeting = greeted(aim)
    (printer or Printer()).line(f"target: {safe(greeting.name, 60)} {safe(greeting.version, 40)}")
    given: dict[str, Any] = {"aim": aim, "capabilities": greeting.capabilities}
    return (
        Phase("corpus", "pinned traces, replayed", partial(plan_corpus, **given)),
        Phase("conformance", "model against target, action by action", partial(plan_conformance, **given)),
        Phase(
            "kills",
            "the target killed while it works, its processes racing",
            partial(plan_kills, strace=calls.usable(), **given),
        ),
    )


def replay_command(options: object) -> int:
    """`holdtrue replay --target COMMAND TRACE`."""
    asked = vars(options)
    for option in ("step", "shrink", "output", "tries"):
        if asked.get(option):
            raise UsageError(f"--{option} does not go with --target")
    aim, path, printer = aim_of(asked), Path(asked["trace"]), Printer()
    data = read_json(path)
    try:
        if isinstance(data, dict) and data.get("kind") == "kill":
            now = _struck(data, aim)
        else:
            now = _walked(data, aim)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    greet(now, printer)
    printer.lines(render_story(now.story))
    return tell_status(now, printer)


def _walked(data: Any, aim: Aim) -> Performed:
    from stateful_tests.replay import replay
    from stateful_tests.trace import from_json, record

    trace = from_json(data)
    whole(data)
    session = Session(aim.command)
    system = aim.system(session, Counter())
    try:
        result = replay(trace, system=system)
    except TargetFaultError as fault:
        raise UsageError(f"the target can't be asked: {fault}") from fault
    finally:
        session.close()
    found = result.divergence
    story = trace.to_json()
    story["steps"] = [record("", "", [one], system=system).steps[0].to_json(system) for one in result.records]
    story["divergence"] = None if found is None else found.to_json()
    story["clause"] = None if found is None else found.clause
    where = "" if result.index is None else f"step {result.index + 1}: "
    return Performed(trace.name, story, result.status, where + result.sentence)


def _struck(data: Mapping[str, Any], aim: Aim) -> Performed:
    from crash_tests.wire import racing, stories

    if data.get("trial") == racing.TRIAL and "target" in (data.get("versions") or ()):
        return _raced(data, aim)
    if data.get("trial") != stories.TRIAL:
        raise UsageError("this kill was one of the project's own store: replay it without --target")
    with tempfile.TemporaryDirectory(prefix="holdtrue-kill-") as root:
        try:
            now = stories.again(data, aim, Path(root).resolve())
        except stories.DriftedError as drifted:
            return Performed(str(data.get("name")), {**data, "violation": None}, "drifted", str(drifted))
    clause = None if now is None else now.clause
    story = {**data, "violation": None if now is None else now.to_json(), "clause": clause}
    name = str(data.get("name"))
    if now is None:
        return Performed(name, story, "fixed", "performed again, the target holds true")
    if clause == data.get("clause"):
        return Performed(name, story, "failing", now.title)
    return Performed(name, story, "drifted", f"another rule is broken now: {clause}: {now.title}")


def _raced(data: Mapping[str, Any], aim: Aim) -> Performed:
    from crash_tests.wire import racing

    lost, sentence = racing.again(data, aim, greeted(aim).capabilities)
    name = str(data.get("name"))
    if lost is None:
        return Performed(name, {**data, "steps": [], "wrong": [], "violation": None}, "fixed", sentence)
    now, recorded = lost.violation, data.get("clause")
    story = {**data, "steps": [*lost.steps], "wrong": [*lost.wrong[1:]], "violation": now.to_json()}
    status: Status = "failing" if now.clause == recorded else "drifted"
    return Performed(name, {**story, "clause": now.clause}, status, sentence)
