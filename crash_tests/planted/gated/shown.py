"""Where the ledger's tours show a planted fault, with nothing drawn and nobody killed; and which they can't.

`SHOWN` names for each fault a facet whose tour shows it. What is in `HIDDEN` does not show in the logic of
the model's world, for the reason that stands there; other checks find it.
"""

from collections.abc import Mapping
from typing import Final

_FACETS: Final[Mapping[str, tuple[str, ...]]] = {
    "kinds": (
        *("mirror-before-append", "commit-before-append", "append-not-synced"),
        *("append-synced-after-the-commit", "append-synced-twice", "failed-fsync-retried-and-believed"),
        *("failed-append-stays", "failed-cut-retried-and-believed", "failed-cut-told-as-rolled-back"),
        *("poisoned-store-goes-on", "short-write-taken-for-a-whole-one"),
        *("short-read-taken-for-a-whole-one", "mirror-failure-swallowed"),
        *("mirror-failure-told-as-rolled-back", "commit-left-out", "commit-failure-swallowed"),
        *("not-rolled-back", "rolled-back-twice", "retry-appended-twice"),
        *("l1-retry-matched-by-its-event-hash", "intent-not-part-of-a-request", "noop-with-an-older-state"),
        *("l6-not-caught-up", "sequence-taken-from-the-mirror", "appended-where-the-mirror-ends"),
        *("mirror-in-delete-mode", "mirror-synced-normally", "new-mirror-not-synced"),
        *("name-of-a-new-mirror-not-synced", "name-of-a-new-ledger-not-synced"),
        *("opening-does-not-catch-up", "unsynced-line-believed", "mutate-called-for-a-known-key"),
    ),
    "verify": (
        *("cut-not-synced", "l5-rollback-error-hides-the-first", "l5-rollback-error-forgotten"),
        *("verifier-ignored", "removed-rows-not-on-the-line", "torn-tail-kept-and-appended-to"),
        *("l1-mutate-called-before-the-key-is-looked-up", "torn-tail-cut-and-not-told"),
        "verifier-shown-the-state-before",
    ),
    "runs": ("event-of-another-kind-taken",),
    "gate": ("conflict-ignored", "replayed-without-its-removals"),
    "orders": (
        *("receipt-before-the-effect", "steps-in-the-order-given", "l4-equal-sequences"),
        *("l4-equal-ids", "l4-colliding-receipts"),
    ),
    "otherwise": (
        *("step-with-a-receipt-runs-again", "receipts-keyed-without-their-run"),
        *("l2-no-start-before-a-step", "l2-started-step-runs-again"),
    ),
    "two-appliers": (
        *("torn-tail-of-another-stays", "goes-on-without-a-receipt", "durable-receipt-not-looked-for"),
        "l2-step-runs-though-its-start-failed",
    ),
    "compensation": ("compensators-that-are-not-idempotent-run",),
    "compensations": (
        *("compensation-receipt-before-the-effect", "l3-compensators-run-again"),
        *("l3-start-and-receipts-appended-again", "compensators-in-forward-order"),
        *("compensators-without-a-start", "compensators-run-though-their-start-failed"),
        *("compensation-of-other-content-accepted", "what-is-not-idempotent-compensated"),
        *("compensators-of-what-was-not-applied-left-out", "compensation-receipts-left-out"),
        *("l4-compensators-of-equal-sequence", "l4-compensators-of-equal-id"),
    ),
    "recovery": (
        *("unusable-mirror-removed", "mirror-built-in-its-place", "half-built-mirrors-stay"),
        *("mirror-not-rebuilt-when-its-rows-differ", "mirror-of-another-schema-accepted"),
    ),
    "tampering-once": (
        *("end-of-the-ledger-not-looked-at", "shorter-ledger-accepted-before-a-call"),
        *("mirror-of-another-chain-rebuilt", "torn-tail-cut-though-the-mirror-has-seen-it"),
        *("mirror-ahead-accepted", "hash-not-checked-at-opening", "bad-last-line-never-cut"),
    ),
    "tampering-both": (
        *("bad-last-line-cut-whatever-the-mirror-says", "bad-last-line-cut-without-a-mirror"),
        *("bad-last-line-cut-with-an-older-mirror", "cut-before-it-is-refused"),
    ),
}
SHOWN: Final[Mapping[str, str]] = {fault: facet for facet, faults in _FACETS.items() for fault in faults}

HIDDEN: Final[Mapping[str, str]] = {
    "aside-without-its-wal": (
        "whoever tampers with a mirror in the model takes its WAL along, and a client that dies in this "
        "process has its WAL taken into the file; only a killed process leaves one"
    ),
    "event-hash-not-checked-at-opening": (
        "a line whose hash is right and whose eventHash is not has to be sealed by a forger, and no "
        "tampering of the model seals lines"
    ),
    "chain-not-checked": (
        "each line that is moved, removed or repeated counts wrongly as well, which is noticed first; only a "
        "forger makes one that counts right and follows another"
    ),
    "repeated-key-accepted": "only a forger puts a key into the chain a second time",
}
