"""From a run's results to a decision: accepted, refused, or undecided, with every reason.

- *Refused*: something is violated that no suppression covers. A counterexample stays one whatever else.
- *Undecided*: nothing of that, and not enough was checked: by the run's own floors, or by the policy.
- *Accepted*: all that the policy asks for was checked, and holds but for what is suppressed.

Without a policy the run's own verdict decides, of whatever store it is; a policy that names no target asks
for the project's own. A run of which phases were left out speaks for too little, and runs of different stores
are not compared, unless the policy says otherwise. Nothing can be suppressed but failures and floors: a job
that was lost, a phase that was cut, a run that was interrupted leave it undecided. An expired suppression is
none.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final, Literal

from attrs import define, field, frozen

from reports import consistency
from reports.coverage import actions_in, kills_in
from reports.gate_against import compared, full, listed
from reports.policy import Policy, Suppression
from reports.targets import target_of, whose

Word = Literal["ACCEPTED", "REFUSED", "UNDECIDED"]
EXITS: Final[Mapping[Word, int]] = {"ACCEPTED": 0, "REFUSED": 1, "UNDECIDED": 3}
LONGEST_TITLE: Final = 240


@frozen
class Reason:
    """Why a run is not accepted. `failures` are those that it is about."""

    kind: Literal["violated", "unchecked"]
    sentence: str
    failures: tuple[Mapping[str, Any], ...] = ()


@frozen
class Decision:
    """`suppressed` says what was put up with, `notes` what somebody should see to, `changed` what is
    different from the older run."""

    word: Word
    reasons: tuple[Reason, ...]
    suppressed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def exit(self) -> int:
        return EXITS[self.word]


def decide(
    results: Mapping[str, Any],
    policy: Policy | None,
    *,
    today: date,
    older: Mapping[str, Any] | None = None,
    whole: Sequence[str] = (),
) -> Decision:
    """The decision on the run of `results` under `policy`, on the day `today`, compared with `older`.

    `whole` names the phases of a whole check of that store; those that are neither there nor said to be left
    out count as left out.
    """
    any_store = policy is None
    policy = policy or Policy()
    judging = _Judging(results, policy, today, whole)
    reasons = [*judging.violated(), *judging.unchecked(), *judging.required()]
    if not any_store and (target := target_of(results)) != policy.target:
        reasons.append(_other_store(target, policy.target))
    changed: list[str] = []
    if older is not None:
        changed, worse = compared(older, results, policy)
        reasons += map(_short, worse)
    word: Word = "ACCEPTED"
    said, told = results["verdict"]["word"], consistency.comes_to(results)
    if (
        not reasons and said != told
    ):  # a suppression covers what it names, and no verdict that nothing explains
        reasons.append(_short(f"the run's own verdict is {said}, and what it tells of comes to {told}"))
    if reasons:
        word = "REFUSED" if any(reason.kind == "violated" for reason in reasons) else "UNDECIDED"
    return Decision(word, tuple(reasons), tuple(judging.put_up_with), tuple(judging.notes()), tuple(changed))


@define
class _Judging:
    results: Mapping[str, Any]
    policy: Policy
    today: date
    whole: Sequence[str]
    put_up_with: list[str] = field(factory=list)
    used: set[Suppression] = field(factory=set)

    def violated(self) -> Iterator[Reason]:
        """What is violated, a reason for each clause, worst first."""
        kinds: dict[str, list[Mapping[str, Any]]] = {}
        covered: dict[Suppression, int] = {}
        for failure in self.results["failures"]:
            found = self._covering(failure)
            if found is None:
                kinds.setdefault(failure["clause"], []).append(failure)
            else:
                covered[found] = covered.get(found, 0) + 1
        self.put_up_with += [
            f"{_many(count, 'counterexample')}: {one.told}" for one, count in covered.items()
        ]
        for clause, failures in kinds.items():
            count, title = _many(len(failures), "counterexample"), str(failures[0]["title"])
            shown = title if len(title) <= LONGEST_TITLE else f"{title[:LONGEST_TITLE]} ..."
            yield Reason("violated", f"{clause} ({count}): {shown}", tuple(failures))
        if self.results["verdict"]["word"] == "VIOLATED" and not self.results["failures"]:
            yield Reason("violated", "the run says that something is violated, and names no counterexample")
        yield from self._unnamed()

    def _unnamed(self) -> Iterator[Reason]:
        """What the run says is violated elsewhere than in its failures, whatever its verdict is."""
        failures = self.results["failures"]
        for one in self.results["properties"]:
            if one["verdict"] == "violated" and not any(_about(one, each) for each in failures):
                yield Reason("violated", f"the property {full(one)} is violated: {one['sentence']}")
        for one in consistency.explorations(self.results, "violated"):
            broken = [
                each.get("id") for each in consistency.properties_of(one) if each.get("verdict") == "violated"
            ]
            named = {each["clause"] for each in failures if each["system"] == one.get("system")}
            if not broken or not all(each in named for each in broken):
                yield Reason("violated", _explored(one, "violated"))

    def unchecked(self) -> Iterator[Reason]:
        """What the run itself did not get done, or can't have got done as it says."""
        for sentence in consistency.contradictions(self.results):
            yield _short(f"the results contradict themselves: {sentence}")
        if not any(phase["done"] for phase in self.results["phases"]):
            yield _short("no job of any phase was done, so nothing was checked")
        for name in consistency.unplanned(self.results):
            yield _short(f"{name}: nothing was planned")
        for one in consistency.explorations(self.results, "inconclusive"):
            yield _short(_explored(one, "inconclusive"))
        for phase in self.results["phases"]:
            name = phase["name"]
            counts, missed = phase["counts"], {str(short[0]) for short in phase["below_floor"]}
            wrong = [key for key, least in phase["floors"].items() if counts.get(key, 0) < least]
            if hidden := sorted({*wrong, *(key for key in counts if counts[key] < 0)} - missed):
                yield _short(f"{name}: counts that don't fit what the run says of them: {listed(hidden)}")
            if phase["lost"]:
                yield _short(f"{name}: {len(phase['lost'])} of {phase['planned']} jobs were lost")
            left = phase["out_of_time"] + phase["given_up"]
            if left:
                yield _short(f"{name}: {left} of {phase['planned']} jobs were not run")
            elif phase["done"] + len(phase["lost"]) < phase["planned"]:
                yield _short(f"{name}: {phase['done']} of {phase['planned']} jobs were done")
            rare = [short for short in phase["below_floor"] if not self._excused(str(short[0]))]
            if rare:
                yield _short(f"{name}: seen too rarely: {listed(_floor(short) for short in rare)}")
        if self.results["not_begun"]:
            yield _short(f"phases that were not begun: {listed(self.results['not_begun'])}")
        word = self.results["verdict"]["word"]
        if word == "INTERRUPTED" or self.results["interrupted"]:
            yield _short("the run was interrupted")
        elif word == "HARNESS FAILED":
            yield _short("the harness failed, which says nothing about the store")

    def required(self) -> Iterator[Reason]:
        """What the policy asks for, and the run has not."""
        results, policy = self.results, self.policy
        if policy.profiles and results["profile"] not in policy.profiles:
            asked = " or ".join(policy.profiles)
            yield _short(f"the profile is {results['profile']}, and the policy asks for {asked}")
        done = {phase["name"] for phase in results["phases"] if phase["done"]}
        if absent := [name for name in policy.phases if name not in done]:
            yield _short(f"phases that the policy requires were not run: {listed(absent)}")
        if policy.whole and results["left_out"]:
            yield _short(
                f"phases of this check were left out: {listed(results['left_out'])}; "
                "a policy with require.whole = false accepts a part"
            )
        if policy.whole and (silent := consistency.unaccounted(results, self.whole)):
            yield _short(
                f"phases of a whole check that are neither there nor said to be left out: {listed(silent)}; "
                "a policy with require.whole = false accepts a part"
            )
        if policy.committed and (results["code"]["commit"] is None or results["code"]["dirty"] is not False):
            yield _short("the code that was checked is not that of a commit, as the policy requires")
        yield from self._properties()
        counts = _counts(results)
        for key, least in policy.floors.items():
            if counts.get(key, 0) < least and not self._excused(key):
                yield _short(f"the policy's floor {key}: {counts.get(key, 0):,} of {least:,}")

    def notes(self) -> Iterator[str]:
        """What is not in the run, and suppressions that are over, or that nothing needs any more."""
        left = [*self.results["left_out"], *consistency.unaccounted(self.results, self.whole)]
        if left and not self.policy.whole:
            yield f"this run speaks for a part alone: left out were {listed(left)}"
        for one in self.policy.suppressions:
            if not one.holds(self.today):
                yield f"expired, and no suppression any more: {one.told}"
            elif one not in self.used:
                yield f"not needed any more, so take it out: {one.told}"

    def _properties(self) -> Iterator[Reason]:
        known = self.results["properties"]
        wanted = self.policy.properties
        rows = [one for one in known if wanted == "all" or one["id"] in wanted or full(one) in wanted]
        if wanted != "all":
            names = {one["id"] for one in known} | {full(one) for one in known}
            if unknown := [name for name in wanted if name not in names]:
                yield _short(f"required properties that this run does not know: {listed(unknown)}")
        if wanted == "all" and not rows:
            yield _short("all properties are required, and this run lists none")
        unseen = [one for one in rows if one["verdict"] in ("not looked at", "inconclusive")]
        if unseen:
            told = listed(f"{full(one)} ({one['verdict']})" for one in unseen)
            yield _short(f"required properties that were not checked enough: {told}")

    def _covering(self, failure: Mapping[str, Any]) -> Suppression | None:
        for one in self.policy.suppressions:
            names = (failure["property"], f"{failure['system']}/{failure['property']}", failure["clause"])
            same = one.what == failure["id"] if one.kind == "failure" else one.what in names
            if one.kind != "floor" and same and one.holds(self.today):
                self.used.add(one)
                return one
        return None

    def _excused(self, key: str) -> bool:
        for one in self.policy.suppressions:
            same = key.startswith(one.what[:-1]) if one.what.endswith("*") else key == one.what
            if one.kind == "floor" and same and one.holds(self.today):
                if one not in self.used:
                    self.used.add(one)
                    self.put_up_with.append(f"seen too rarely: {one.told}")
                return True
        return False


def _other_store(target: str | None, wanted: str | None) -> Reason:
    asked = f"the policy asks for {whose(wanted)}"
    if wanted is None:
        toml = json.dumps(target, ensure_ascii=False)  # TOML's basic strings take JSON's escapes
        asked += f", since it names no other; if that target is meant, write require.target = {toml}"
    return _short(f"this is a run of {whose(target)}, and {asked}")


def _about(one: Mapping[str, Any], failure: Mapping[str, Any]) -> bool:
    return bool(failure["property"] == one["id"] and failure["system"] == one["system"])


def _explored(one: Mapping[str, Any], verdict: str) -> str:
    why = f": {one['reason']}" if one.get("reason") else ""
    return f"the exploration of {one.get('system')}/{one.get('space')} is {verdict}{why}"


def _counts(results: Mapping[str, Any]) -> dict[str, int]:
    """All phases' counts, and those of actions and kills as a person counts them."""
    counts: dict[str, int] = {}
    for phase in results["phases"]:
        for key, count in phase["counts"].items():
            counts[key] = counts.get(key, 0) + count
    counts["actions"] = sum(actions_in(phase["counts"]) for phase in results["phases"])
    counts["kills"] = sum(kills_in(phase["counts"]) for phase in results["phases"])
    return counts


def _short(sentence: str) -> Reason:
    return Reason("unchecked", sentence)


def _floor(short: Any) -> str:
    return f"{short[0]} ({short[1]} of {short[2]})"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
