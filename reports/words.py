"""Actions and what came of them, in words, from their JSON forms.

`Names` gives each UUID a short name and each wall-clock time its distance from the start, so that a story
fits on a screen; `legend` says what stands for what. JSON of an unknown shape is shown as it is, never
refused: a report of a broken trace must not break. All text that comes out has been through `safe`.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from reports.ledger_words import ledger_answer, ledger_words
from reports.plain import safe

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_BINDING = ("projectId", "projectControlDomainId", "runId")
_ROLES = {
    "reservationId": "r",
    "projectId": "p",
    "projectControlDomainId": "d",
    "runId": "run",
    "commandId": "c",
}
LEGEND_LINES = 16
_FAR = 10 * 365 * 86_400_000
"""Milliseconds: a number within ten years of the start of the clock is taken for a time."""


class Names:
    """Short names for ids and times; `start` is the clock at the story's beginning, in ms."""

    def __init__(self, start: int) -> None:
        self._start = start
        self._ids: dict[str, str] = {}
        self._roles: Counter[str] = Counter()
        self._times = False

    def of(self, value: object, key: str = "") -> str:
        """`value` (any JSON) as it stands in a story; `key` is the field that it is the value of."""
        if isinstance(value, str):
            return self.text(value, _ROLES.get(key, "id"))
        if isinstance(value, bool) or not isinstance(value, int):
            return self._other(value)
        if abs(value - self._start) > _FAR or value < _FAR:
            return str(value)
        self._times = True
        return f"T{value - self._start:+d}" if value != self._start else "T"

    def text(self, value: str, role: str = "id", limit: int = 120) -> str:
        """Free text, with short names for the ids in it; those without one yet are named after `role`."""
        shown = _UUID.sub(lambda found: self._short(found.group(), role), value)
        return safe(shown, limit) if value else '""'

    def legend(self) -> list[str]:
        """What the short names stand for, one a line."""
        lines = [f"{short} = {long}" for long, short in self._ids.items()]
        hidden = len(lines) - LEGEND_LINES
        if hidden > 0:
            lines = [*lines[:LEGEND_LINES], f"... and {hidden} more ids: see the file"]
        return [*lines, f"T = {self._start} ms since the epoch"] if self._times else lines

    def _short(self, long: str, role: str) -> str:
        if long not in self._ids:
            self._roles[role] += 1
            self._ids[long] = f"{role}{self._roles[role]}"
        return self._ids[long]

    def _other(self, value: object) -> str:
        if isinstance(value, Mapping):
            return (
                "{"
                + ", ".join(f"{safe(key, 60)}: {self.of(item, str(key))}" for key, item in value.items())
                + "}"
            )
        if isinstance(value, Sequence):
            return "[" + ", ".join(self.of(item) for item in value) + "]"
        return json.dumps(value) if value is None or isinstance(value, bool | float) else safe(value)


def action_words(action: object, names: Names) -> str:
    """What was done, e.g. `alice via h1: commit r1, projectAdmitCommitSeq 3`."""
    if not isinstance(action, Mapping):
        return names.of(action)
    words = ledger_words(action, names.of)
    if words is not None:
        return words
    words = _DEEDS.get(str(action.get("do")), _as_it_is)(action, names)
    struck = action.get("disturbances", ())
    told = [_disturbance_words(each, names) for each in struck] if isinstance(struck, Sequence) else []
    return "; ".join([words, *told])


def outcome_words(outcome: object, names: Names) -> str:
    """What came of it, e.g. `ok: committed` or the code of a refusal."""
    if not isinstance(outcome, Mapping):
        return "-" if outcome is None else names.of(outcome)
    if "refused" in outcome:
        told = names.of(outcome["refused"])
        told += " (side effects unknown)" if outcome.get("sideEffects", "none") != "none" else ""
        told += f" ({names.of(outcome['recoverability'])})" if "recoverability" in outcome else ""
        return f"{told}, rollback failed" if outcome.get("rollbackFailed") is True else told
    if "raised" in outcome:
        told = f"raised: {names.of(outcome['raised'])}"
        return f"{told}, rollback failed" if outcome.get("rollbackFailed") is True else told
    if "declined" in outcome:
        return f"can't happen: {names.of(outcome['declined'])}"
    if "crashed" in outcome:
        return f"CRASHED: {names.of(outcome['crashed'])}"
    return _answer_words(outcome["accepted"], names) if "accepted" in outcome else names.of(outcome)


def _answer_words(value: object, names: Names) -> str:
    if value is None:
        return "ok"
    if isinstance(value, Mapping):
        told = ledger_answer(value, names.of)
        if told is not None:
            return told
        row = value.get("reservation")
        if isinstance(row, Mapping):
            return f"ok: {names.of(row.get('state'))} {names.of(row.get('reservationId'), 'reservationId')}"
        if "record" in value:
            return f"ok: command, result {_answer_words(value.get('result'), names)}"
        capacity = value.get("capacity")
        if isinstance(capacity, Mapping):
            held = f"{names.of(capacity.get('active'))} of {names.of(capacity.get('maxActiveRuns'))} held"
            return f"ok: {held}, commit {names.of(value.get('commitSeq'))}"
    return f"ok: {names.of(value)}"


def _disturbance_words(each: object, names: Names) -> str:
    if not isinstance(each, Mapping) or not isinstance(each.get("effect"), Mapping):
        return names.of(each)
    when = f"at {names.of(each.get('moment'))} no. {names.of(each.get('nth'))}"
    effect = each["effect"]
    if "raises" in effect:
        code = effect["raises"]
        return f"{when}: raises {'an exception' if code is None else names.of(code)}"
    if "answers" in effect:
        return f"{when}: answers {names.of(effect['answers'])}"
    if "happens" in effect:
        return f"{when}: {action_words(effect['happens'], names)}"
    return f"{when}: calls the store again" if "reenters" in effect else names.of(each)


def _open(action: Mapping[str, Any], names: Names) -> str:
    told = f"host {names.of(action.get('host'))} opens: holder {names.of(action.get('holderId'))}, "
    told += f"epoch {names.of(action.get('epoch'))}, maximum {names.of(action.get('initialMaxActiveRuns'))}"
    return told if action.get("arbitration", True) is True else f"{told}, no arbitration"


def _call(action: Mapping[str, Any], names: Names) -> str:
    told = f"{names.of(action.get('context'))} via {names.of(action.get('host'))}: "
    told += names.of(action.get("operation"))
    arguments = action.get("arguments", {})
    if not isinstance(arguments, Mapping):
        return f"{told} {names.of(arguments)}"
    parts = []
    binding = [arguments[key] for key in _BINDING if key in arguments]
    for key, value in arguments.items():
        if key in _BINDING and len(binding) == len(_BINDING):
            if key == _BINDING[0]:
                parts.append("for " + _binding(arguments, names))
        elif key in ("id", "reservationId"):
            command = action.get("operation") == "readCommand"
            parts.append(names.of(value, "commandId" if command else "reservationId"))
        elif key == "ttlMs":
            parts.append(f"ttl {names.of(value)}")
        else:
            parts.append(f"{safe(key, 60)} {names.of(value, key)}")
    return f"{told} {', '.join(parts)}" if parts else told


def _binding(values: Mapping[str, Any], names: Names) -> str:
    return "/".join(names.of(values.get(key), key) for key in _BINDING)


def _lease(action: Mapping[str, Any], names: Names) -> str:
    lease = action.get("lease")
    if not isinstance(lease, Mapping):
        return "no lease from now on" if lease is None else f"lease is {names.of(lease)}"
    known = {"holderId", "fencingEpoch", "endpoint", "expiresAt"}
    if set(lease) != known:
        return f"lease is {names.of(lease)}"
    told = f"lease: holder {names.of(lease['holderId'])}, epoch {names.of(lease['fencingEpoch'])}"
    return f"{told}, until {names.of(lease['expiresAt'])}"


def _clock(action: Mapping[str, Any], names: Names) -> str:
    ms = action.get("ms")
    return f"clock {ms:+d} ms" if isinstance(ms, int) else f"clock {names.of(ms)}"


def _admission(verb: str) -> Any:
    def words(action: Mapping[str, Any], names: Names) -> str:
        reservation = names.of(action.get("reservationId"), "reservationId")
        return f"project {verb} {reservation} ({_binding(action, names)})"

    return words


def _about(template: str, *keys: str) -> Any:
    def words(action: Mapping[str, Any], names: Names) -> str:
        return template.format(*(names.of(action.get(key), key) for key in keys))

    return words


def _as_it_is(action: Mapping[str, Any], names: Names) -> str:
    return names.of(action)


_DEEDS: Mapping[str, Any] = {
    "open": _open,
    "call": _call,
    "setLease": _lease,
    "advanceClock": _clock,
    "admit": _admission("admits"),
    "abandon": _admission("abandons"),
    "close": _about("host {} closes", "host"),
    "readEpoch": _about("read_durable_epoch"),
    "setIdentity": _about("{} is now {}", "context", "identity"),
    "finish": _about("run of {} ends: {}", "reservationId", "status"),
    "park": _about("run of {} is parked", "reservationId"),
    "quiesce": _about("run of {} has no process left", "reservationId"),
    "resume": _about("run of {} starts again", "reservationId"),
    "forget": _about("project forgets {}", "reservationId"),
    "putBack": _about("state no. {} is put back", "index"),
    "leaveTemp": _about("a killed writer's temp file is left"),
    "damage": _about("damage: {}", "kind"),
    "mend": _about("mended: {}", "kind"),
}
