"""What a run has really exercised, counted by flat key, so that a rule which never ran can't pass.

- `rule/<operation or event>/<accepted or CODE>`: an action with this outcome, on both sides
- `moment/<moment>/<effect>`: a disturbance that struck, not one that was only planned
- `meanwhile/<event>`: an event that happened during a transaction
- `damage/<kind>`: an operation tried while this damage stood
- `hosts/<n>`: a transaction while n hosts had the store open
- `lifecycle/<state>/<operation or event>/<state>`: a reservation that was changed, from `none` if it is new
- `declined/<operation or event>`: not sent; counted apart, and worth nothing

Counts are functions of the seed alone. They say what ran, not that it was checked well.
"""

from collections import Counter
from collections.abc import Iterator

from model.actions import Call, Open, ReadEpoch
from model.values import World
from stateful_tests.lockstep import StepRecord, name_of, outcome_name


class Coverage:
    """Counts what one job saw."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def see(self, before: World, record: StepRecord, after: World) -> None:
        """Counts one step that led from `before` to `after`, as the model has it."""
        name = name_of(record.action)
        if record.declined:
            self.counts[f"declined/{name}"] += 1
            return
        self.counts[f"rule/{name}/{outcome_name(record.expected)}"] += 1
        for key in record.struck:
            self.counts[key] += 1
        if isinstance(record.action, Call | Open | ReadEpoch):
            for kind in before.damage:
                self.counts[f"damage/{kind}"] += 1
            self.counts[f"hosts/{sum(host.is_open for host in before.hosts)}"] += 1
        for old, new in _changed(before, after):
            self.counts[f"lifecycle/{old}/{name}/{new}"] += 1


def _changed(before: World, after: World) -> Iterator[tuple[str, str]]:
    """The states of each reservation that is not what it was, before and after; `none`: it wasn't there."""
    if after.store is None or after.store is before.store:
        return
    rows = before.store.rows if before.store is not None else ()
    if rows is after.store.rows:
        return
    old = {row.reservation_id: row for row in rows}
    for row in after.store.rows:
        was = old.get(row.reservation_id)
        if was != row:
            yield (was.state if was is not None else "none", row.state)
