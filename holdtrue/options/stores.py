"""What the commands that take a store on disk accept."""

from holdtrue.options import values


def audit(commands: values.Commands) -> None:
    command = commands.add_parser(
        "audit",
        help="verify a store on disk, read-only and without a host",
        description="Verifies the store in a directory. A coordinator's: S1-S10, the audit chain, file "
        "modes; a ledger's (it has ledger.jsonl): its chain, keys, mirror, file modes. Writes nothing, takes "
        "no lock. Exits 0 if all holds, 1 on any fault.",
        allow_abbrev=False,
    )
    command.add_argument("directory", metavar="DIRECTORY", help="the store's directory")
    command.add_argument(
        "--anchor",
        metavar="SEQ:HASH",
        help="of a ledger: an event that an earlier audit told as its anchor, and that must still be there",
    )


def serve(commands: values.Commands) -> None:
    command = commands.add_parser(
        "serve",
        help="offer this project's own store as a target of the wire protocol",
        description="Speaks the wire protocol (docs/protocol.md) on standard input and output, for the store "
        "in a directory. Ends at the end of its input.",
        allow_abbrev=False,
    )
    command.add_argument(
        "directory", metavar="DIRECTORY", help="the store's directory; it need not exist yet"
    )
