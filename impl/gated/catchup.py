"""Before each call: whether the ledger is still what the mirror has seen, and catching up with what isn't.

Guarantees: it costs the same whatever the ledger's length: the mirror knows how many bytes it has seen and
where the last line starts, and that line is looked at. What other processes appended since is verified,
synced and replayed; what one of them left unfinished is cut off.

Doesn't: look at earlier lines. Only opening does.
"""

import json
from typing import Final

from attrs import define

from impl.gated.chain import Tail, lines
from impl.gated.errors import APPEND_FAILED, LedgerError, UncutError, broken
from impl.gated.journal import Journal
from impl.gated.lines import Line, Position, check_line
from impl.gated.mirror import Mirror
from impl.gated.recovery import mirror_steps, renew_last
from impl.jsontext import FormatError

_NEWLINE: Final = b"\n"


@define
class Seen:
    """The last line that this store has verified or written: its place, and the bytes that end there."""

    at: Position | None = None
    raw: bytes = b""

    def written(self, line: Line, raw: bytes) -> None:
        """This very process has just appended `line`."""
        self.at = line.end
        self.raw = raw if line.start == 0 else _NEWLINE + raw


def catch_up(journal: Journal, mirror: Mirror, seen: Seen) -> Position:
    """Bring the mirror to the ledger's end, under the lock; answers that end. Raises LedgerError."""
    with mirror_steps("catching the mirror up"):
        head = mirror.head()
        size = journal.size()
        if size < head.length:
            raise broken(
                f"{journal.path} has {size} bytes, and the mirror has seen {head.length}: acknowledged "
                "events were cut off. Nothing was changed; restore the file"
            )
        _check_last(journal, head, seen)
        if size == head.length:
            return head
        tail = Tail(head)
        new = list(lines(journal, tail, size))
        if tail.bad_line is not None and new:
            raise broken(
                f"line {tail.end.sequence + 1} of {journal.path} is wrong ({tail.bad_line}), and the mirror "
                "doesn't end just before it. Nothing was changed"
            )
        _refuse_repeated(mirror, new)
        if tail.size:
            try:
                journal.cut(tail.end.length)
            except UncutError as error:
                message = f"an unfinished line could not be cut off: {error}"
                raise LedgerError(APPEND_FAILED, message, "in_doubt", cause=error) from error
        if new:
            renew_last(journal, tail.end)
            mirror.replay(new)
        return tail.end


def _check_last(journal: Journal, head: Position, seen: Seen) -> None:
    """The ledger's bytes up to the mirror's head must end with the mirror's last line."""
    if head.sequence == 0:
        return
    start = max(0, head.last - 1)  # with the newline of the line before
    raw = journal.read(start, head.length - start)
    if seen.at == head and seen.raw == raw:
        return
    try:
        before, line = raw[: head.last - start], raw[head.last - start :]
        if before not in (b"", _NEWLINE) or line[-1:] != _NEWLINE or _NEWLINE in line[:-1]:
            raise FormatError("it is no single line")
        previous = json.loads(line)["previousHash"]
        found = check_line(line[:-1], head.sequence, previous, head.last)
        if found.hash != head.hash:
            raise FormatError("it is another one")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise broken(
            f"the last line of {journal.path} that the mirror has seen is not what it was: {error}. Nothing "
            "was changed; restore the file"
        ) from None
    seen.at, seen.raw = head, raw


def _refuse_repeated(mirror: Mirror, new: list[Line]) -> None:
    keys = {(line.scope, line.key) for line in new}
    if len(keys) != len(new) or any(mirror.find(*key) is not None for key in keys):
        raise broken("a line of the ledger has a key that another one has")
