"""What `mutants` accepts."""

from holdtrue.options import values


def mutants(commands: values.Commands) -> None:
    command = commands.add_parser(
        "mutants",
        help="plant known faults in the store, and see whether the checks catch them",
        description="Builds each fault of the catalogue into the store, in a process of its own and without "
        "touching the source, and has the quick checks hunt it. Exits 0 if every fault is caught that is not "
        "equivalent to the sound store by an argument, 1 if one survives.",
        allow_abbrev=False,
    )
    command.add_argument("--list", action="store_true", help="only list the faults, with what each does")
    command.add_argument(
        "--only",
        action="append",
        metavar="FAULT",
        help="only this fault (repeatable); what comes of it is shown and not kept",
    )
    command.add_argument(
        "--without-corpus",
        action="store_true",
        help="leave the pinned corpus out: it was made of stories of these faults",
    )
    command.add_argument(
        "--seed", type=values.seed, default=0, metavar="N", help="seed of the checks; default 0"
    )
    command.add_argument(
        "--source",
        type=values.sample,
        metavar="N",
        help="instead: ordinary mutation testing of impl/ with cosmic-ray, on a sample of N mutants. Takes "
        "some 20 seconds for each, minutes for a survivor",
    )
    command.add_argument(
        "--tool",
        default="cosmic-ray",
        metavar="PATH",
        help="with --source: where cosmic-ray is; default: wherever the shell finds it",
    )
    command.add_argument(
        "--resume",
        action="store_true",
        help="with --source: judge only what mutation.jsonl doesn't name as noticed, in the same source, and "
        "what is not explained: after a run that was cut off, or with new tests",
    )
    command.add_argument(
        "--out",
        default="reports/out",
        metavar="DIR",
        help="where to keep detection.json, which later runs put in their reports; default reports/out",
    )
    command.add_argument(
        "--jobs", type=values.jobs, default=None, metavar="N", help="worker processes; default: one per core"
    )
