"""Faults of opening: what of the ledger is verified, what is cut, what is refused, and what is caught up."""

from typing import Final

from crash_tests.planted.plant import Change, Fault

_RECOVERY: Final = "impl.gated.recovery"
_CATCHUP: Final = "impl.gated.catchup"
_VERDICT: Final = "impl.gated.verdict"
_LINES: Final = "impl.gated.lines"
_REFUSED: Final = "recovery: anything else wrong in the ledger -> LEDGER_INTEGRITY_FAILED"
_CUT: Final = (
    "recovery: a last line with its newline that is not valid is cut only if an intact mirror ends exactly "
    "one before it"
)
_CUTTABLE: Final = "    cuttable = examination.sound and examination.head == tail.end\n"
_CLOSELY: Final = Change(_LINES, "        if plain is None:\n", "        if True:\n")
"""No fault in itself: each line is looked at in the one way that is right for any."""
_AHEAD: Final = "        if until > found:\n"

FAULTS: Final = (
    Fault(
        "torn-tail-kept-and-appended-to",
        "A last line that was never finished stays, and the next event is appended to it.",
        "recovery: a last line without its newline: cut it off, fsync, go on",
        (
            Change(_RECOVERY, "            journal.cut(tail.end.length)\n", "            pass\n"),
            Change(
                _CATCHUP, "        if tail.size:\n            try:\n", "        if False:\n            try:\n"
            ),
            Change(_CATCHUP, "        return tail.end\n", "        return tail.end._replace(length=size)\n"),
        ),
    ),
    Fault(
        "torn-tail-cut-though-the-mirror-has-seen-it",
        "A torn last line is cut off although the mirror has seen it whole.",
        "recovery: only a last line without its newline that the mirror hasn't seen was never acknowledged",
        (Change(_VERDICT, _AHEAD, "        if until > found + 1:\n"),),
    ),
    Fault(
        "torn-tail-cut-and-not-told",
        "A torn tail is cut off at opening, and nobody is told.",
        "recovery: cut it off, fsync, go on, and say so",
        (Change(_RECOVERY, "    return RecoveryReport(tail.size, ", "    return RecoveryReport(0, "),),
    ),
    Fault(
        "mirror-ahead-accepted",
        "A mirror that is ahead of the ledger is rebuilt from what is left of it.",
        "recovery: a mirror ahead of the ledger -> LEDGER_INTEGRITY_FAILED",
        (
            Change(
                _VERDICT,
                _AHEAD,
                f'{_AHEAD}            self.unusable = "it is ahead"\n            return\n',
            ),
        ),
    ),
    Fault(
        "bad-last-line-cut-whatever-the-mirror-says",
        "A last line that is not valid is always cut off.",
        _CUT,
        (Change(_RECOVERY, _CUTTABLE, "    cuttable = True\n"),),
    ),
    Fault(
        "bad-last-line-cut-without-a-mirror",
        "A last line that is not valid is cut off also if the mirror is missing or corrupt.",
        _CUT,
        (
            Change(
                _RECOVERY,
                _CUTTABLE,
                "    cuttable = not examination.sound or examination.head == tail.end\n",
            ),
        ),
    ),
    Fault(
        "bad-last-line-cut-with-an-older-mirror",
        "A last line that is not valid is cut off also if the mirror ends earlier than just before it.",
        _CUT,
        (Change(_RECOVERY, _CUTTABLE, "    cuttable = examination.sound\n"),),
    ),
    Fault(
        "bad-last-line-never-cut",
        "A last line that is not valid, and was never acknowledged, is refused.",
        _CUT,
        (Change(_RECOVERY, _CUTTABLE, "    cuttable = False\n"),),
    ),
    Fault(
        "cut-before-it-is-refused",
        "A last line that is not valid is cut off, and refused then.",
        "recovery: no byte of ledger.jsonl and no row of the mirror is changed",
        (
            Change(
                _RECOVERY,
                "    if tail.bad_line is not None and not cuttable:\n",
                "    if tail.bad_line is not None and not cuttable:\n"
                "        assert files.journal is not None\n"
                "        files.journal.cut(tail.end.length)\n",
            ),
        ),
    ),
    Fault(
        "hash-not-checked-at-opening",
        "The hash of a line is not held against what it says.",
        _REFUSED,
        (_CLOSELY, Change(_LINES, "    if text_hash(head + tail) != found:\n", "    if False:\n")),
    ),
    Fault(
        "event-hash-not-checked-at-opening",
        "The eventHash of a record is not held against what it says.",
        _REFUSED,
        (_CLOSELY, Change(_LINES, '    if text_hash(hashed) != record["eventHash"]:\n', "    if False:\n")),
    ),
    Fault(
        "chain-not-checked",
        "Whether a line follows the one before it is not looked at.",
        _REFUSED,
        (
            _CLOSELY,
            Change(
                _LINES,
                "    tail = _tail(previous_hash, record_text, asked, sequence)\n",
                '    tail = _tail(shown["previousHash"], record_text, asked, sequence)\n',
            ),
        ),
    ),
    Fault(
        "repeated-key-accepted",
        "Two lines with the same key are accepted.",
        _REFUSED,
        (
            Change(
                _VERDICT,
                "        if len(set(self.keys)) != len(self.keys):\n",
                "        if False:\n",
            ),
        ),
    ),
    Fault(
        "opening-does-not-catch-up",
        "Opening leaves a mirror behind the ledger as it is.",
        "recovery: mirror behind: replay the ledger into it",
        (
            Change(
                _RECOVERY,
                "                replayed = mirror.replay(_reread(journal, examination.head, tail.end))\n",
                "                pass\n",
            ),
        ),
    ),
    Fault(
        "unsynced-line-believed",
        "What a killed writer has appended is mirrored though nobody knows whether it was synced.",
        "durability rules: pages may be marked clean though they never reached the disk",
        (
            Change(
                _RECOVERY,
                "    journal.renew(end.last, journal.read(end.last, end.length - end.last))\n",
                "    del journal, end\n",
            ),
        ),
    ),
)
