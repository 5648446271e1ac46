"""What opening the store finds and does: torn tails, mirrors of every kind, and what must be refused."""

from typing import Final

from stateful_tests.gated.stories import (
    APPEND,
    COMMIT,
    INTEGRITY,
    MIRROR,
    Story,
    closed,
    counted,
    dies,
    fails,
    gone,
    opened,
    put,
    read,
    rows,
    story,
    tamper,
)

_TWO: Final = (opened(), counted("k1"), counted("k2"))
_WIDE: Final = put("k3", mutation=rows(a="\u00fc\U0001f512"))


def _refused(name: str, why: str, *damage: object) -> Story:
    """With the mirror intact, this is refused: no byte is changed, again and again."""
    return story(name, why, *_TWO, closed(), *damage, (INTEGRITY, opened()), (INTEGRITY, opened("b")))


def _rebuilt(name: str, why: str, *damage: object) -> Story:
    """With the ledger intact, the mirror is made anew, and the retry of a known key is a no-op."""
    return story(
        name, why, *_TWO, closed(), *damage, opened(), read(), ("noop", counted("k2")), counted("k3")
    )


_MIRRORS: Final = (
    _rebuilt("ledger-mirror-deleted", "Acceptance: the mirror is deleted.", tamper("mirror-deleted")),
    _rebuilt("ledger-mirror-emptied", "Acceptance: the mirror is emptied.", tamper("mirror-emptied")),
    _rebuilt("ledger-mirror-corrupt", "Acceptance: the mirror is corrupted.", tamper("mirror-corrupt")),
    _rebuilt("ledger-mirror-schema", "A mirror of another schema version.", tamper("mirror-schema")),
    _rebuilt("ledger-mirror-edited", "A mirror with a row that nobody wrote.", tamper("mirror-edited")),
    _rebuilt("ledger-mirror-behind", "Acceptance: the mirror is behind.", tamper("mirror-behind", n=1)),
    _rebuilt("ledger-mirror-at-nothing", "A mirror that has seen nothing.", tamper("mirror-behind")),
    _refused("ledger-mirror-ahead", "Acceptance: the mirror is ahead.", tamper("line-removed", line=2)),
    _refused(
        "ledger-mirror-foreign",
        "Acceptance: the mirror is from another ledger, of the same length.",
        tamper("mirror-foreign", n=2),
    ),
    _refused(
        "ledger-mirror-foreign-and-behind",
        "The mirror is from another ledger, and shorter.",
        tamper("mirror-foreign", n=1),
    ),
)
_LINES: Final = (
    _refused(
        "ledger-whole-records-cut-off",
        "Acceptance: truncating whole records off the end is noticed: the mirror has seen them.",
        tamper("line-removed", line=1),
        tamper("line-removed", line=1),
    ),
    _refused(
        "ledger-line-removed",
        "A gap in the sequence is refused, and nothing is changed.",
        tamper("line-removed", line=1),
    ),
    _refused("ledger-lines-swapped", "Lines in another order.", tamper("line-swapped", line=1)),
    _refused(
        "ledger-line-repeated",
        "A line that stands there twice is refused, and nothing is changed.",
        tamper("line-repeated", line=1),
    ),
    _refused("ledger-line-appended", "A line once more at the end.", tamper("line-appended", line=1)),
    _refused("ledger-line-edited", "A byte of a line flipped.", tamper("line-edited", line=1, n=40)),
    _refused("ledger-last-line-edited", "A bad last line that was seen.", tamper("line-edited", line=2, n=9)),
    _refused("ledger-newline-cut", "A newline is gone that the mirror has seen.", tamper("tail-cut", n=1)),
    _refused("ledger-tail-cut", "Half a line is gone that the mirror has seen.", tamper("tail-cut", n=99)),
    _refused("ledger-deleted", "The ledger is gone, and the mirror isn't.", tamper("ledger-deleted")),
    story(
        "ledger-deleted-with-its-mirror-corrupt",
        "With both files gone it can't be known that there was anything: a new store.",
        *_TWO,
        closed(),
        tamper("ledger-deleted"),
        tamper("mirror-corrupt"),
        opened(),
        put("k1"),
    ),
    story(
        "ledger-bad-last-line-and-no-mirror",
        "A last line with its newline that is not valid, and no mirror that says that it was never seen.",
        *_TWO,
        closed(),
        tamper("line-edited", line=2, n=9),
        tamper("mirror-deleted"),
        (INTEGRITY, opened()),
    ),
)
_TAILS: Final = (
    story(
        "ledger-torn-tail-is-cut",
        "A last line without its newline that the mirror hasn't seen is cut off; the next isn't swallowed.",
        *_TWO,
        dies(counted("k3"), "append-torn"),
        opened(),
        counted("k3"),
        closed(),
        opened(),
        read(),
    ),
    story(
        "ledger-torn-tail-and-another-client",
        "A client that was open all the time cuts the torn tail before it appends.",
        opened("b"),
        *_TWO,
        dies(counted("k3"), "append-torn"),
        counted("k4", client="b"),
        opened(),
        counted("k3"),
        read("b"),
    ),
    story(
        "ledger-torn-inside-a-character",
        "Acceptance: a tail cut inside a multi-byte character is a torn line too.",
        opened(),
        _WIDE,
        *(step for n in range(60, 460, 23) for step in (closed(), tamper("tail-torn", n=n), opened())),
        read(),
    ),
    story(
        "ledger-torn-tail-and-no-mirror",
        "A torn tail is cut also when the mirror is missing or corrupt: nobody was told of it.",
        *_TWO,
        closed(),
        tamper("tail-torn", n=50),
        tamper("mirror-deleted"),
        opened(),
        closed(),
        tamper("tail-torn", n=50),
        tamper("mirror-corrupt"),
        opened(),
        counted("k3"),
    ),
    story(
        "ledger-bad-last-line-that-was-never-seen",
        "A last line with its newline that is not valid is cut if the mirror ends exactly one before it.",
        *_TWO,
        (f"{MIRROR}, in_doubt", counted("k3", fails("mirror"))),
        closed(),
        tamper("line-edited", line=3, n=30),
        opened(),
        counted("k3"),
        read(),
    ),
    story(
        "ledger-bad-last-line-beyond-one-unseen",
        "Not cut if the mirror ends two before it.",
        *_TWO,
        (COMMIT, counted("k3", fails("commit"))),
        closed(),
        tamper("mirror-behind", n=1),
        tamper("line-edited", line=3, n=30),
        (INTEGRITY, opened()),
    ),
    story(
        "ledger-tampered-while-it-is-open",
        "A call notices what was done to the end of the ledger since the last one.",
        *_TWO,
        tamper("tail-cut", n=1),
        (INTEGRITY, counted("k3")),
        (INTEGRITY, read()),
        closed(),
        (INTEGRITY, opened()),
    ),
    story(
        "ledger-last-line-edited-while-it-is-open",
        "A call notices that the last line is another one, though the file is as long as it was.",
        *_TWO,
        tamper("line-edited", line=2, n=9),
        (INTEGRITY, counted("k3")),
        (INTEGRITY, read()),
    ),
    story(
        "ledger-deleted-while-it-is-open",
        "A call notices that the ledger is gone.",
        *_TWO,
        tamper("ledger-deleted"),
        (INTEGRITY, counted("k3")),
        (INTEGRITY, read()),
    ),
)
_FAILING: Final = (
    story(
        "ledger-opening-can-not-catch-up",
        "A mirror that can't be caught up at opening: in doubt; the next opening does it.",
        *_TWO,
        (f"{MIRROR}, in_doubt", counted("k3", fails("mirror"))),
        closed(),
        (f"{MIRROR}, in_doubt", opened("a", fails("catch-up"))),
        opened(),
        ("noop", counted("k3")),
    ),
    story(
        "ledger-opening-can-not-rebuild",
        "A mirror that can't be built: in doubt; the old one is aside, the next opening builds it.",
        *_TWO,
        closed(),
        tamper("mirror-corrupt"),
        (f"{MIRROR}, in_doubt", opened("a", fails("catch-up", kind="full"))),
        opened(),
        read(),
    ),
    story(
        "ledger-opening-can-not-cut",
        "A torn tail that can't be cut, or whose cut can't be synced.",
        *_TWO,
        dies(counted("k3"), "append-torn"),
        (f"{APPEND}, in_doubt", opened("a", fails("cut"))),
        (f"{APPEND}, in_doubt", opened("a", fails("cut-fsync"))),
        opened(),
        counted("k3"),
    ),
    story(
        "ledger-recovery-dies-and-is-recovered-from",
        "A crash during recovery changes nothing of what the next one finds.",
        *_TWO,
        dies(counted("k3"), "append-torn"),
        dies(opened(), "open"),
        dies(opened(), "cut"),
        dies(opened(), "cut-done"),
        opened(),
        (f"{MIRROR}, in_doubt", counted("k4", fails("mirror"))),
        gone(),
        dies(opened(), "catch-up"),
        dies(opened(), "caught-up"),
        opened(),
        closed(),
        tamper("mirror-schema"),
        dies(opened(), "aside"),
        dies(opened(), "set-aside"),
        dies(opened(), "built"),
        dies(opened(), "renamed"),
        opened(),
        read(),
    ),
    story(
        "ledger-first-opening-dies",
        "A store whose first opening died is opened by the next one.",
        dies(opened(), "open"),
        dies(opened(), "ledger-created"),
        dies(opened(), "build"),
        dies(opened(), "catch-up"),
        dies(opened(), "built"),
        dies(opened(), "renamed"),
        opened(),
        put("k1"),
    ),
)

STORIES: Final[tuple[Story, ...]] = (*_MIRRORS, *_LINES, *_TAILS, *_FAILING)
