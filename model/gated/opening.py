"""Opening the store: recovery, under its lock, before anything else.

First everything is read and judged, so that a refusal for integrity changes nothing; then a torn tail is
cut; then the mirror is caught up or, where there is none to speak of, set aside and built anew. After an
opening that succeeds, the mirror is the fold of the whole ledger, and nobody counts what was tampered with.
"""

from model.gated import recovery
from model.gated.actions import OpenLedger
from model.gated.recovery import Findings
from model.gated.running import Refusal, Running
from model.gated.values import Client, LedgerFile, Mirror
from model.values import JSON


def open_ledger(running: Running, action: OpenLedger) -> JSON:
    running.clients = tuple(each for each in running.clients if each.name != action.client)
    running.mark("open")
    ledger = running.ledger or recovery.EMPTY
    findings = recovery.whole(ledger, running.mirror)
    if findings is None:
        raise Refusal("LEDGER_INTEGRITY_FAILED", "operator")
    if running.ledger is None:
        running.ledger = LedgerFile()
        running.mark("ledger-created")
    if findings.cut:
        running.cut(findings.cut)
    was_there = running.mirror != "missing"
    if findings.rebuild:
        _rebuild(running, findings)
    elif findings.missing:
        running.mirror = running.replay(running.found(), findings.missing)
        running.mark("caught-up")
    _forgive(running, findings)
    running.clients = (*running.clients, Client(action.client))
    report: recovery.MirrorReport = "caught-up" if findings.missing else "intact"
    return {
        "cutBytes": findings.cut,
        "replayedEvents": len(findings.missing),
        "mirror": "rebuilt" if findings.rebuild else report,
        "setAside": findings.rebuild and was_there,
    }


def _rebuild(running: Running, findings: Findings) -> None:
    """The new one is not there before it is whole."""
    if running.mirror != "missing":
        running.mark("aside")
        running.mirror = "missing"
        running.mark("set-aside")
    running.mark("build")
    mirror = running.replay(Mirror(), findings.missing)
    running.mark("built")
    running.mirror = mirror
    running.mark("renamed")


def _forgive(running: Running, findings: Findings) -> None:
    """With both files tampered with, what was acknowledged can be gone without anybody's noticing."""
    if running.wounds == {"ledger", "mirror"}:
        running.acknowledged &= {line.hash for line in findings.lines}
        running.pardoned = len(running.effects)
    running.wounds = frozenset()
