"""The page's words, and what the page itself can't say.

Definitions are one sentence each, in the words that the rest of the page uses.
"""

from collections.abc import Mapping

from reports.html.markup import Html, el
from reports.html.parts import bullets, facts, note, section

LIMITS: tuple[str, ...] = (
    "A pass is the absence of a counterexample among what was looked at. It is evidence, and no proof.",
    "The model can be wrong in the same way as the store. The two were written apart, and neither is derived "
    "from the other; that makes it less likely and not impossible.",
    "The checks ran on one machine, one kernel and one file system, which are named under Provenance.",
    "A counterexample is a story that was made short. The same fault may show itself in other ways, and one "
    "story may hide another.",
    "Counts say what ran, not that it was checked well. Detection power, where it was measured, says more.",
    "This page says what results.json says. It does not check that nobody changed either.",
)
WORDS: Mapping[str, str] = {
    "action": "Something that can happen: an operation on the store, or an event in its surroundings.",
    "clause": "The rule that a counterexample breaks: a property's id, or the words of the specification.",
    "coordinator": "The first system under test: a store of reservations, of which only so many may hold a "
    "slot.",
    "counterexample": "A trace at whose end the store did what it must not.",
    "dirty": "The source had changes that are in no commit.",
    "fencing epoch": "A number that grows with each new host; a host of an older one may change nothing.",
    "flake": "Something that fails now and then, and is known to.",
    "floor": "The least number of times that a situation must have been seen. Below it a run is "
    "inconclusive.",
    "in doubt": "It is not known whether a change took effect. Opening the store anew settles it.",
    "job": "A part of a phase that one worker process does in one go.",
    "kill": "SIGKILL at a marked point. The process is gone at once; what the kernel has in its cache "
    "survives.",
    "lease": "The right to act as host until a certain time.",
    "ledger": "The second system under test: no change is committed whose event does not stand in a file "
    "first.",
    "marked point": "A place before, half-way through or after a disk step, where a process can be killed.",
    "mirror": "The database that holds what the ledger's events come to.",
    "model": "The rules as pure functions, with which the store is compared after each action.",
    "orphan-suspect": "A reservation whose run may be dead. It keeps its slot until that is proven.",
    "phase": "A kind of check: pinned traces, comparison, kills, invariants.",
    "property": "A sentence that must hold; always: of each state, step: of what each step changes.",
    "seed": "The number that all random draws start from. The same seed checks the same things.",
    "suppression": "A failure that a policy accepts until a certain day.",
    "sweep": "What each operation does first: reservations whose time is over are committed or expired, on "
    "proof.",
    "tour": "A way along the transitions of an explored space, walked on the real store.",
    "trace": "A list of actions with what was expected and what was observed. It can be replayed.",
    "witness": "A situation in which a property matters. A run that has not seen it has not tested the "
    "property.",
}


def limitations() -> Html:
    return section("limits", "Limitations", bullets(LIMITS))


def glossary() -> Html:
    lead = note("Words as this page uses them.")
    return section(
        "glossary",
        "Glossary",
        lead,
        facts(((el("dfn", word), told) for word, told in WORDS.items()), "glossary"),
    )
