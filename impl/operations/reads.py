"""readReservation, readCommand, snapshot, dispatch: what changes no row by itself.

Guarantees: owners see their rows, principals their commands; a dispatch is prepared only for a committed
row, and its activation is left to the transaction's last step.

Doesn't: spare the sweep. Reads sweep too, and so may write.
"""

from collections.abc import Mapping
from typing import Any

from impl.authority import ask
from impl.errors import COMMAND_FAILED, CROSS_PRINCIPAL_COMMAND, refuse
from impl.operations.guards import caller, conflict, existing, owned
from impl.values import Capacity, Command, Row, Snapshot, State
from impl.work import Work


def read_reservation(work: Work, arguments: Mapping[str, Any]) -> Row | None:
    """A row of the caller's, or None."""
    row = work.rows.get(arguments["id"])
    return None if row is None else owned(work, row)


def read_command(work: Work, arguments: Mapping[str, Any]) -> Command | None:
    """A command of the caller's, or None."""
    command = work.commands.get(arguments["id"])
    if command is not None and command.record.caller_principal != caller(work).principal:
        refuse(CROSS_PRINCIPAL_COMMAND, f"command {arguments['id']} belongs to another principal")
    return command


def snapshot_of(state: State) -> Snapshot:
    """All there is in a state."""
    rows = tuple(state.reservations.values())
    states = [row.reservation.state for row in rows]
    reserved, committed = states.count("reserved"), states.count("committed")
    suspect = states.count("orphan-suspect")
    overridden = any(row.concurrency_guarantee == "operator-overridden" for row in rows)
    return Snapshot(
        commit_seq=state.commit_seq,
        fencing_epoch=state.fencing_epoch,
        capacity=Capacity(
            state.max_active_runs, reserved + committed + suspect, reserved, committed, suspect
        ),
        concurrency_guarantee="operator-overridden" if overridden else "enforced",
        reservations=rows,
        commands=tuple(state.commands.values()),
    )


def dispatch(work: Work, arguments: Mapping[str, Any]) -> None:
    """Prepare a launch. The transaction runs the activation after all else."""
    row = owned(work, existing(work, arguments["id"]))
    if row.reservation.state != "committed":
        conflict(row, "only a committed one can be dispatched")
    activation = ask("prepare", lambda: arguments["prepare"], row)
    if not callable(activation):
        refuse(COMMAND_FAILED, "prepare must return a function without arguments, which launches the run")
    work.activation = activation
