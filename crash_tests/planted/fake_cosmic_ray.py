"""Stands in for cosmic-ray in tests: three mutants of one line, judged as the file `judgements.json` says.

As a program it understands `--version`, `init CONFIG SESSION` and `exec CONFIG SESSION`, and writes the
tables that are read from a real session. It mutates nothing and runs no tests.
"""

import json
import os
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Final

FILE: Final = "impl/epoch.py"
JUDGEMENTS: Final = "HOLDTRUE_FAKE_JUDGEMENTS"
"""Names the file: occurrence (as text) to "survived", to what the judge said, to "unmade" where the tool
itself failed, or to "never" for no end."""

_SPECS: Final = "job_id, module_path, operator_name, occurrence, start_pos_row, start_pos_col"
_RESULTS: Final = "job_id, worker_outcome, output, test_outcome, diff"


def init(session: str) -> None:
    with closing(sqlite3.connect(session)) as database, database:
        database.execute(f"create table mutation_specs ({_SPECS})")
        database.execute("create table work_items (job_id)")
        database.execute(f"create table work_results ({_RESULTS})")
        for number in range(3):
            database.execute("insert into work_items values (?)", (f"job{number}",))
            spec = (f"job{number}", FILE, "op", number, 1, 0)
            database.execute("insert into mutation_specs values (?, ?, ?, ?, ?, ?)", spec)


def execute(session: str) -> None:
    judgements = json.loads(Path(os.environ[JUDGEMENTS]).read_text(encoding="utf-8"))
    with closing(sqlite3.connect(session)) as database:
        jobs = database.execute("select job_id, occurrence from mutation_specs order by 2").fetchall()
        for job, number in jobs:
            said = judgements[str(number)]
            while said == "never":
                time.sleep(0.05)
            survived = said == "survived"
            outcome = "SURVIVED" if survived else "KILLED"
            with database:
                result = (
                    job,
                    "EXCEPTION" if said == "unmade" else "NORMAL",
                    "" if survived else said,
                    outcome,
                    f"-a\n+{number}\n",
                )
                database.execute("insert into work_results values (?, ?, ?, ?, ?)", result)


if __name__ == "__main__":
    if sys.argv[1] == "--version":
        print("cosmic-ray, version 0.fake")
    else:
        {"init": init, "exec": execute}[sys.argv[1]](sys.argv[3])
