"""Where the coordinator's tours show a planted fault, nothing drawn and nobody killed; and which they can't.

`SHOWN` names for each fault a facet whose tour shows it: not the only one, but a small one. What is in
`HIDDEN` does not show in the logic of the model's world, for the reason that stands there; other checks find
it. Faults that the catalogue itself calls equivalent show nowhere, and stand in neither.
"""

from collections.abc import Mapping
from typing import Final

FACETS: Final[Mapping[str, tuple[str, ...]]] = {
    "stages": (
        *("capacity-one-short", "ttl-kept-on-commit", "ttl-kept-on-commit-and-s6-unchecked"),
        *("terminal-id-reused", "renew-gives-a-committed-row-a-ttl", "read-under-another-name"),
        *("audit-entry-with-a-wrong-previous-hash", "temp-file-left-behind", "renewal-never-published"),
        *("authorize-shown-nothing", "authorize-again-shown-the-old-row"),
    ),
    "capacity": ("capacity-off-by-one", "orphan-suspects-not-counted"),
    "due": ("sweep-of-two-at-most",),
    "lowering": ("maximum-compared-before-the-sweep",),
    "bindings": ("reserve-compares-the-run-alone", "slot-taken-by-the-run-id-alone"),
    "takeover": (
        *("forced-row-keeps-its-epoch", "late-values-keep-the-epoch", "maximum-set-without-a-fence"),
    ),
    "lifecycle": ("binding-committed-twice", "c8-proven-row-breaks-every-call"),
    "attempts": ("c10-late-values-refused",),
    "releases": ("release-with-a-live-process", "release-proof-of-another-project-taken"),
    "elsewhere": ("sweep-takes-any-proof",),
    "aging": ("sweep-frees-a-committed-row",),
    "killed": ("command-executed-twice", "c9-forced-after-a-proven-release"),
    "arguments": (
        *("c2-upper-case-ids", "c3-commit-spreads-its-input", "c11-arguments-of-any-length"),
        *("c11-lone-surrogates", "c15-true-taken-for-1", "c17-id-checked-inside-the-transaction"),
    ),
    "time": (
        *("clock-going-backwards-accepted", "clock-seen-forgotten", "lease-end-not-checked"),
        "refused-operation-writes-its-sweep",
    ),
    "fencing": (
        *("stale-epoch-may-write", "swept-row-keeps-its-epoch", "renewed-row-keeps-its-epoch"),
        "suspected-row-keeps-its-epoch",
    ),
    "genesis": ("epoch-not-stored",),
    "identity": ("owner-alone-is-asked",),
    "authority": (
        *("sweep-forgets-the-fence", "lease-judged-by-an-early-look", "re-authorization-skipped"),
        *("lease-not-rechecked-before-publishing", "closed-store-answers", "closed-store-publishes"),
    ),
    "proofs": (
        *("commit-across-its-ttl", "sweep-trusts-not-admitted", "failing-arbitration-frees"),
        *("c16-renewed-after-its-time", "admission-of-another-project-taken"),
        "abandonment-of-another-project-taken",
    ),
    "launches": (
        *("lease-end-not-looked-at-before-the-rename", "closed-at-the-last-moment-publishes"),
        *("rename-before-the-write-is-complete", "launched-before-published"),
        "c5-failed-publication-leaves-its-temp-file",
    ),
    "commands": (
        *("force-release-without-operator", "set-maximum-without-operator", "maximum-below-what-is-held"),
        *("command-replayed-to-another-principal", "command-replayed-for-another-request"),
        "state-digest-without-the-commands",
    ),
    "damage": (
        *("c1-genesis-begun-anew", "c6-leftovers-stay", "c6-leftovers-of-the-identity-stay"),
    ),
    "damages": (
        *("audit-chain-not-checked", "state-digest-not-bound", "state-hash-not-checked"),
        *("c12-links-followed", "c12-fifo-hangs", "c12-shared-files-used", "c12-hard-links-used"),
        *("c14-bare-os-error", "c15-duplicate-keys-accepted", "c15-floats-accepted"),
    ),
    "rollback": (
        *("c4-older-state-accepted", "c4-another-state-of-the-same-number-accepted"),
        "c4-later-state-of-another-past-accepted",
    ),
}  # fmt: skip
SHOWN: Final[Mapping[str, str]] = {fault: facet for facet, faults in FACETS.items() for fault in faults}

_PROCESSES: Final = "a tour is one process, whose calls come one after another; two are needed to get into"
_UID: Final = "no event of the model changes the owner or the mode of that"

HIDDEN: Final[Mapping[str, str]] = {
    "clock-not-looked-at-after-a-failure": (
        "the clock has to rise while one row's project fails and to fall while another's is asked, and a "
        "call on a tour has one thing happen to it"
    ),
    "launch-after-the-lease-ended": (
        "between the last look before the rename and the launch nobody is called back, so the model has no "
        "moment at which the clock could move there; processes do"
    ),
    "in-place-write": "the bytes are right once the call has ended; only a kill shows them torn",
    "c1-identity-before-the-first-state": "both files are there once an opening has ended",
    "c7-no-lock": f"{_PROCESSES} each other's way",
    "c7-released-before-publishing": f"{_PROCESSES} each other's way",
    "c7-released-by-a-forked-child": "nobody forks on a tour",
    "c7-kept-by-a-forked-child": "nobody forks on a tour",
    "c7-killed-holder-leaves-its-lock": "nobody dies on a tour while holding the lock",
    "c7-lock-file-not-compared": f"{_PROCESSES} by another lock file; a link in its place is seen otherwise",
    "c7-lock-file-not-compared-before-the-rename": f"{_PROCESSES} by another lock file",
    "c12-replaced-while-looked-at": f"{_PROCESSES} each other's way",
    "c12-foreign-files-used": f"{_UID} file",
    "c13-opening-mends-a-shared-directory": f"{_UID} directory",
    "c13-shared-directory-used": f"{_UID} directory",
}  # fmt: skip
