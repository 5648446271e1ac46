"""Each fix of the specification undone: what the seed of this store did, built in again (C1 … C17).

Those of lock, files and directory (C7, C12 … C15) stand in `files`.
"""

from typing import Final

from crash_tests.planted.plant import Change, Fault

_ARGUMENTS: Final = "impl.arguments"
_COMMANDS: Final = "impl.operations.commands"
_LOADING: Final = "impl.loading"
_LIFECYCLE: Final = "impl.operations.lifecycle"
_PUBLISH: Final = "impl.publish"
_TRANSACTION: Final = "impl.transaction"

_GENESIS_AND_ARGUMENTS: Final[tuple[Fault, ...]] = (
    Fault(
        "c1-identity-before-the-first-state",
        "Genesis writes the identity first: killed before the state, the directory never opens again.",
        "C1",
        (
            Change(
                _TRANSACTION,
                "        with contextlib.ExitStack() as drafts:\n",
                "        if not base.exists:\n"
                "            self._write_identity(identity_file(state))\n"
                "        with contextlib.ExitStack() as drafts:\n",
            ),
            Change(
                _TRANSACTION,
                "        if not base.exists:\n"
                "            self._write_identity(identity_file(state))\n"
                "        return state\n",
                "        return state\n",
            ),
        ),
    ),
    Fault(
        "c1-genesis-begun-anew",
        "A state that is missing beside its identity is made anew, and admitted runs are forgotten.",
        "Genesis",
        (
            Change(
                _LOADING,
                "        if identity is not None:\n            refuse(",
                "        if False:\n            refuse(",
            ),
            Change(_LOADING, "if not initialize or memory.known is not None:", "if not initialize:"),
        ),
    ),
    Fault(
        "c2-upper-case-ids",
        "`A…` and `a…` are two ids.",
        "C2",
        (
            Change(
                _ARGUMENTS,
                '"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"',
                '"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"',
            ),
        ),
    ),
    Fault(
        "c3-commit-spreads-its-input",
        "`commit` takes any argument and spreads it over the row: the run can be rebound.",
        "C3",
        (
            Change(
                _ARGUMENTS,
                "if type(name) is not str or name not in known:",
                'if type(name) is not str or name not in known and operation != "commit":',
            ),
            Change(
                _ARGUMENTS,
                "    checked: dict[str, Any] = {}\n",
                '    checked: dict[Any, Any] = dict(given) if operation == "commit" else {}\n',
            ),
            Change(
                _LIFECYCLE,
                '        attempt_id=arguments.get("attemptId", reservation.attempt_id),\n',
                '        run_id=arguments.get("runId", reservation.run_id),\n'
                '        attempt_id=arguments.get("attemptId", reservation.attempt_id),\n',
            ),
        ),
    ),
    Fault(
        "c11-arguments-of-any-length",
        "A text of megabytes is stored.",
        "C11",
        (Change(_ARGUMENTS, "1 <= len(value) <= MAX_TEXT and", "1 <= len(value) and"),),
    ),
    Fault(
        "c11-lone-surrogates",
        "A text that UTF-8 can't hold is taken.",
        "C11",
        (
            Change(
                _ARGUMENTS,
                "1 <= len(value) <= MAX_TEXT and is_encodable(value)",
                "1 <= len(value) <= MAX_TEXT",
            ),
        ),
    ),
    Fault(
        "c17-id-checked-inside-the-transaction",
        "`readReservation` checks its id after authorization and sweep.",
        "C17",
        (
            Change(
                _ARGUMENTS,
                '    "readReservation": (_ID,),\n',
                '    "readReservation": (("id", lambda _name, _value: None),),\n',
            ),
            Change(
                "impl.operations.reads",
                '    row = work.rows.get(arguments["id"])\n    return None if',
                "    from impl.arguments import is_uuid\n\n"
                '    if not is_uuid(arguments["id"]):\n'
                '        refuse(COMMAND_FAILED, "id must be a canonical lower-case UUID")\n'
                '    row = work.rows.get(arguments["id"])\n    return None if',
            ),
        ),
    ),
)

_STATES: Final[tuple[Fault, ...]] = (
    Fault(
        "c4-older-state-accepted",
        "An older state that is put back under an open store is believed.",
        "C4",
        (
            Change(
                _LOADING,
                "    if found.commit_seq < seen.commit_seq:\n",
                "    if found.commit_seq < seen.commit_seq:\n        return\n    if False:\n",
            ),
        ),
    ),
    Fault(
        "c4-another-state-of-the-same-number-accepted",
        "Another state of the same commitSeq is believed.",
        "C4",
        (
            Change(
                _LOADING,
                "    if found.commit_seq == seen.commit_seq and found.state_hash != seen.state_hash:\n",
                "    if found.commit_seq == seen.commit_seq:\n        return\n    if False:\n",
            ),
        ),
    ),
    Fault(
        "c4-later-state-of-another-past-accepted",
        "A later state is believed whose audit doesn't hold the hash that was seen.",
        "C4",
        (Change(_LOADING, "if found.audit[seen.commit_seq - 1].hash != seen.audit[-1].hash:", "if False:"),),
    ),
    Fault(
        "c5-failed-publication-leaves-its-temp-file",
        "A publication that fails leaves its temporary file.",
        "C5",
        (Change(_PUBLISH, "if not published and not lock.lost:", "if False:"),),
    ),
    Fault(
        "c6-leftovers-stay",
        "Temporary files of killed writers stay for ever.",
        "C6",
        (Change(_PUBLISH, "if LEFTOVER.fullmatch(name):", "if False:"),),
    ),
    Fault(
        "c6-leftovers-of-the-identity-stay",
        "Temporary files of the identity, which only genesis leaves, stay for ever.",
        "C6",
        (Change(_PUBLISH, 'r"coordinator(\\.identity)?\\.json', 'r"coordinator\\.json'),),
    ),
    Fault(
        "c8-proven-row-breaks-every-call",
        "An expired reservation whose run holds a slot already is committed, so that every call fails.",
        "C8",
        (Change("impl.sweep", "if work.binding_is_taken(row):", "if False:"),),
    ),
    Fault(
        "c9-forced-after-a-proven-release",
        "forceRelease turns a proven release into an operator's.",
        "C9",
        (Change(_COMMANDS, 'if row.reservation.state == "released":', "if False:"),),
    ),
    Fault(
        "c10-late-values-refused",
        "What the sweep has committed can no longer be given its attempt id by its owner.",
        "C10",
        (
            Change(
                _LIFECYCLE,
                "return work.put(row, evolve(bound, coordinator_epoch=work.epoch), updated_at=work.now)",
                'conflict(row, "it is committed already, with other values")',
            ),
        ),
    ),
    Fault(
        "c16-renewed-after-its-time",
        "A reservation whose time has passed, and that may be abandoned already, is renewed.",
        "C16",
        (
            Change(
                _LIFECYCLE,
                "        if expires_at <= work.look():\n            conflict(",
                "        if False:\n            conflict(",
            ),
        ),
    ),
)

FAULTS: Final[tuple[Fault, ...]] = (*_GENESIS_AND_ARGUMENTS, *_STATES)
