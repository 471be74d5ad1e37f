"""`certify`: what observations that were collected already prove.

The proof holds for data that was collected adaptively and looked at any number of times: every
bound holds at all counts together, for each arm's values in their order. It does not survive picking
the data by its outcome: leaving out values because of what they are, repeating an arm until it looks
good and keeping that part only, or stopping to record an arm's values when they turn bad.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bestgroup.analysis.certificate_card import certificate_html
from bestgroup.analysis.deploy import Deployment, Guess, deployment, guess_from
from bestgroup.analysis.gaps import MISSING, judge_gaps
from bestgroup.analysis.item_tables import item_table, items_of, read_rows
from bestgroup.analysis.item_words import (
    Difference,
    Telling,
    differences,
    items_done,
    share_done,
    telling,
)
from bestgroup.analysis.proofs import data_proof, items_proof, save_proof
from bestgroup.analysis.weight_regions import MappedWeights
from bestgroup.errors import InvalidInput
from bestgroup.files.observations import Table
from bestgroup.inference.certificate.as_they_came import judge_as_they_came
from bestgroup.inference.certificate.best_group import kept, rests_on_symmetric_sums
from bestgroup.inference.certificate.data_checks import Checker, Doubt, in_words, why_void
from bestgroup.inference.certificate.explain import Explainer, Explanation
from bestgroup.inference.certificate.explainers import explainer_of
from bestgroup.inference.certificate.items import ItemTable, arm_means, judge_items
from bestgroup.inference.certificate.judge import Verdict
from bestgroup.inference.certificate.posthoc import least_level
from bestgroup.inference.certificate.regions import WeightRegions
from bestgroup.inference.certificate.within import (
    Basis,
    judge_arms,
    tied_by_intervals,
    tied_by_pairs,
)
from bestgroup.inference.certificate.worths import judge_for, rests_on_sums
from bestgroup.inference.confidence_sequences.boxes import take_values
from bestgroup.inference.pivots import add_deviations, of_values, pivot_of
from bestgroup.inference.tally import Tally, empty_tally
from bestgroup.inference.worths import BARRED, COUNTS, OPEN
from bestgroup.plots.certificate import pareto_view
from bestgroup.problem.arrays import Floats, Ints, positive_int, probability
from bestgroup.problem.frames import data_frame
from bestgroup.problem.goals import Goal, check_goal
from bestgroup.problem.guarantee import (
    SEVERAL_ARMS,
    SINGLE_ARMS,
    SYMMETRIC_SUMS,
    Guarantee,
    decisions_statement,
)
from bestgroup.problem.items import Items
from bestgroup.problem.measure import words_of
from bestgroup.problem.noise import Gaussian, Noise, SubGaussian
from bestgroup.problem.problem import Problem
from bestgroup.problem.status import Status

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MOST_GUESSED = 200_000  # comparisons of arms with groups, beyond which a guess has no level


@dataclass(frozen=True)
class Certificate:
    """What is proven of every group, with the intervals and the reasons."""

    problem: Problem
    goal: Goal
    delta: float
    tally: Tally
    verdict: Verdict
    guarantee: Guarantee
    notes: tuple[str, ...] = ()
    item_values: ItemTable | None = None  # of shared items, in their order
    # Of a study, whose verdict is its algorithm's:
    data: Verdict | None = None  # what its observations prove by themselves
    together: Guarantee | None = None  # of both, where the observations prove more
    contradictions: tuple[str, ...] = ()  # a sentence for each
    outlook: tuple[Floats | None, float | None] | None = None  # reach of its radius, and forecast
    basis: Basis | None = None  # what was read; None where arms were not fixed, or dims are missing
    own_proof: bool = True  # whether the algorithm has one, if its assumptions hold
    # What a proof file is written from:
    proof_of: Callable[[Certificate], dict[str, Any]] | None = field(
        default=None, repr=False, compare=False
    )

    @property
    def share(self) -> float | None:
        """The share of the full table that was evaluated; None unless arms share a number of items."""
        return share_done(self.problem, self.tally.counts)

    def items_done(self) -> dict[str, dict[str, int]]:
        """Return how many items each arm has passed, by group."""
        return items_done(self.problem, self.tally.counts)

    def differences(self) -> list[Difference]:
        """Return the paired differences of the leading arms of contending groups, with their bounds.

        All bounds, of these and of any other pair, hold together with probability at least 1 - delta.
        """
        table = self._on_items()
        return differences(self.problem, table, self.delta, self._contenders())

    def telling_items(self, most: int = 10) -> list[Telling]:
        """Return the items that tell the contenders apart best: where their leading arms differ most."""
        return telling(
            self.problem, self._on_items(), self._contenders(), positive_int(most, "most")
        )

    def _on_items(self) -> ItemTable:
        if self.item_values is None:
            raise InvalidInput("this needs arms that are scored on the same items (bg.Items)")
        return self.item_values

    def _contenders(self) -> list[int]:
        """Return the groups that are not out, or all if fewer than two are left."""
        left = np.flatnonzero(self.verdict.status != Status.OUT).tolist()
        return left if len(left) > 1 else list(range(len(self.problem.groups)))

    def _names(self, status: int, of: Ints | None = None) -> tuple[str, ...]:
        found = self.verdict.status if of is None else of
        return tuple(
            name for name, s in zip(self.problem.groups, found, strict=True) if s == status
        )

    @cached_property
    def beyond(self) -> Ints:
        """What a study's observations prove of groups that its algorithm has not decided, [N].

        Of all groups, if the algorithm has no proof. UNDECIDED where nothing is added.
        """
        if self.data is None:
            return np.full(len(self.problem.groups), Status.UNDECIDED)
        open_ = self.verdict.status == Status.UNDECIDED
        if not self.own_proof:
            open_[:] = True
        return np.where(open_, self.data.status, Status.UNDECIDED)

    def not_from_data(self) -> tuple[str, ...]:
        """Return the groups that a study has decided and its observations alone would leave open."""
        if self.data is None:
            return ()
        less = (self.verdict.status != Status.UNDECIDED) & (self.data.status == Status.UNDECIDED)
        return tuple(np.array(self.problem.groups)[less].tolist())

    def with_data(self, together: Guarantee, against: tuple[str, ...]) -> Certificate:
        """Return a study's certificate with what its observations add to the decisions."""
        kept = together if self.beyond.any() else None
        return replace(self, together=kept, contradictions=against, notes=(*self.notes, *against))

    def with_doubts(self, doubts: Sequence[Doubt]) -> Certificate:
        """Return the certificate with what speaks against its assumptions, which voids what it says."""
        why = why_void(doubts)
        found = replace(self, notes=(*self.notes, *in_words(doubts)))
        if why is None:
            return found
        # An algorithm without a proof may have observations that prove something: not any more.
        own = self.guarantee if self.guarantee.level == "none" else self.guarantee.void(why)
        both = None if self.together is None else self.together.void(why)
        return replace(found, guarantee=own, together=both)

    @property
    def _trusted(self) -> bool:
        """Whether the values prove anything; they may where a study's algorithm does not."""
        return (self.guarantee if self.together is None else self.together).level == "proven"

    @property
    def accepted(self) -> tuple[str, ...]:
        """The groups that are proven in."""
        return self._names(Status.IN)

    @property
    def rejected(self) -> tuple[str, ...]:
        """The groups that are proven out."""
        return self._names(Status.OUT)

    @property
    def not_needed(self) -> tuple[str, ...]:
        """The groups that may be better than the one that is in, by no more than epsilon."""
        return self._names(Status.NOT_NEEDED)

    @property
    def undecided(self) -> tuple[str, ...]:
        """The groups of which nothing is proven yet."""
        return self._names(Status.UNDECIDED)

    @property
    def pulls(self) -> int:
        """How many observations there are."""
        return int(self.tally.counts.sum())

    @property
    def intervals(self) -> tuple[Floats, Floats]:
        """Bounds of every efficiency in the dims' own units, [N, D] each."""
        ends = self.verdict.interval()
        low, high = (self.problem.to_user(end) for end in ends)
        none = ends[1] == -np.inf  # of a group without arms that may count
        low, high = (np.where(none, np.nan, end) for end in (low, high))
        return np.minimum(low, high), np.maximum(low, high)

    @cached_property
    def explainer(self) -> Explainer:
        """What explains the groups."""
        reach = None if self.outlook is None else self.outlook[0]
        with np.errstate(all="ignore"):  # nothing is finite before the first observation
            return self._explainer(self.verdict, reach, self.guarantee.level == "proven")

    def _explainer(self, verdict: Verdict, reach: Floats | None, proven: bool) -> Explainer:
        setting = self.problem, self.goal, self.delta
        return explainer_of(*setting, self.tally, verdict, reach, proven=proven)

    def explain(self, group: str) -> Explanation:
        """Return why a group has its status."""
        if group not in self.problem.groups:
            known = ", ".join(self.problem.groups[:6])
            raise InvalidInput(f"there is no group {group!r}; the groups are {known}")
        i = self.problem.groups.index(group)
        with np.errstate(all="ignore"):
            found = self.explainer.group(i)
            if self.data is None or self.beyond[i] == Status.UNDECIDED:
                return found
            alone = self._explainer(self.data, None, self._trusted).group(i)
        # An algorithm without a proof may have decided, and what is sure is not its doing.
        own = "the algorithm has not decided yet"
        if self.verdict.status[i] != Status.UNDECIDED:
            own = "what the algorithm has decided is not proven by itself"
        words = f"{alone.text}; by the observations alone, {own}"
        return replace(found, text=words, reasons=alone.reasons)

    def deploy(self) -> list[Deployment]:
        """Return, for each group that is in, which of its arms to take.

        A group may owe its worth to different arms in different dims. What is called proven of the
        arms holds for all groups together with probability at least 1 - delta, by a proof of its own.
        """
        trusted, found, problem = self._trusted, [], self.problem
        if problem.items is None and not rests_on_several(problem, self.verdict):
            # The guarantee says that arms may depend on each other: nothing proven may need more.
            problem = copy.copy(problem)
            problem.noise = problem.noise.with_dependent_arms()
        with np.errstate(all="ignore"):
            for i in np.flatnonzero(self.verdict.status == Status.IN).tolist():
                status = None
                if self.basis is not None and trusted:
                    status = judge_arms(self.basis, problem, self.goal.for_arms(), self.delta, i)
                found.append(deployment(self.explainer, i, status, trusted))
        return found

    def guess(self) -> Guess:
        """Return the whole answer that the values speak for, beside what is proven.

        Its level is 1 over the least evidence that any part of it has now, not a delta that was fixed
        beforehand: an e-value statement (docs/theory.md, 7). None where boxes decide, on shared
        items, or where the assumptions do not hold. What is decided is part of the guess.
        """
        found = None
        if self.basis is not None and self._trusted and self._few():
            found = least_level(self.basis, self.problem, self.goal)
        with np.errstate(all="ignore"):
            return guess_from(self.explainer, found)

    def _few(self) -> bool:
        """Return whether there are few enough pairs to look at them some thirty times."""
        shape = self.problem.shape
        return shape.groups * shape.total * shape.dims <= MOST_GUESSED

    def ties(self, epsilon: Any = None) -> list[tuple[str, str]]:
        """Return the pairs of groups that are proven to be within epsilon of each other.

        For Pareto groups in every dim, for the best group by weighted worth (epsilon times the sum
        of the weights). `epsilon` is the goal's unless given; it must not be chosen by the values.
        All pairs are right together with probability at least 1 - delta, by a proof of their own.
        """
        goal = self.goal if epsilon is None else self.goal.with_epsilon(epsilon)
        goal = check_goal(goal, [dim.name for dim in self.problem.decided])
        D, basis = len(self.problem.decided), self.basis
        weights = goal.worth_weights(D)
        slack = np.broadcast_to(np.asarray(goal.epsilon, float), D).copy()
        if not (slack > 0).all() and not (basis and basis.items):
            raise InvalidInput("ties need an epsilon above 0: give one, in every dim")
        if not self._trusted:
            return []
        with np.errstate(all="ignore"):
            judged = self.verdict if self.data is None else self.data
            plain = self.problem.measure is None  # else other arms than the best may decide
            if weights is None and basis is not None and judged.pairs and plain:
                near = tied_by_pairs(basis, self.problem, slack, self.delta)
            else:
                near = tied_by_intervals(judged, weights, slack)
        names = self.problem.groups
        return [(names[i], names[k]) for i, k in np.argwhere(near).tolist() if i < k]

    def limits_kept(self) -> dict[str, dict[str, str]]:
        """Return which arms keep the limits, by group: "keeps", "breaks" or "open".

        "keeps" is proven up to the tolerance of a limit, "breaks" is proven.
        """
        if not self.problem.limits:
            raise InvalidInput("the problem has no limits (require)")
        known = self.verdict.standing
        rows = zip(self.problem.groups, self.problem.arms, strict=True)
        return {
            group: {
                arm: _KEPT[0 if known is None else int(known[i, j])] for j, arm in enumerate(arms)
            }
            for i, (group, arms) in enumerate(rows)
        }

    @property
    def map(self) -> MappedWeights:
        """Which group is proven best for which weights; for the goal `WeightMap`.

        Of a study, what its algorithm has proven; else what the observations prove.
        """
        goal: Any = self.goal
        if not goal.maps:
            raise InvalidInput(f"a map of weights needs the goal WeightMap; it is {self.goal!r}")
        known = self.verdict.regions
        if known is None and self.data is not None:
            known = self.data.regions
        dims = tuple(dim.name for dim in self.problem.decided)
        if known is None:
            known = WeightRegions.blank(goal.grid(len(dims)), len(self.problem.groups))
        return MappedWeights(self.problem.groups, dims, known, self._trusted)

    def forecast(self) -> float | None:
        """Return about how many more pulls the whole answer takes; None if no one can say."""
        return self.explainer.forecast() if self.outlook is None else self.outlook[1]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON; an interval without an end has None there."""
        low, high = self.intervals
        return {
            "accepted": list(self.accepted),
            "rejected": list(self.rejected),
            "not_needed": list(self.not_needed),
            "undecided": list(self.undecided),
            "pulls": self.pulls,
            "delta": self.delta,
            "forecast": self.forecast(),
            "guarantee": self.guarantee.to_dict(),
            "beyond": self._beyond_dict(),
            "contradictions": list(self.contradictions),
            "notes": list(self.notes),
            "deploy": [choice.to_dict() for choice in self.deploy()],
            **({"map": self.map.to_dict()} if self.goal.maps else {}),
            "guess": self.guess().to_dict() if self.undecided else None,
            "limits": self.limits_kept() if self.problem.limits else None,
            "groups": [
                {
                    "group": name,
                    "status": Status(self.verdict.status[i]).word,
                    "pulls": int(self.tally.counts[i].sum()),
                    "efficiency": {
                        dim.name: [_finite(low[i, d]), _finite(high[i, d])]
                        for d, dim in enumerate(self.problem.decided)
                    },
                    "beyond": _word(self.beyond[i]),
                    **self.explain(name).to_dict(),
                }
                for i, name in enumerate(self.problem.groups)
            ],
        }

    def _beyond_dict(self) -> dict[str, Any] | None:
        if self.together is None:
            return None
        return {
            "accepted": list(self._names(Status.IN, self.beyond)),
            "rejected": list(self._names(Status.OUT, self.beyond)),
            "not_needed": list(self._names(Status.NOT_NEEDED, self.beyond)),
            "guarantee": self.together.to_dict(),
        }

    def save_proof(self, path: Any, *, key: Any = None) -> str:
        """Write a proof file that others can check (`bestgroup verify`); returns its digest.

        `key` is a file with a key that whoever checks the proof has, too: the proof is signed by it.
        """
        return save_proof(self, path, key)

    def to_frame(self) -> Any:
        """Return a data frame with a row for each group."""
        low, high = self.intervals
        rows = {
            "group": self.problem.groups,
            "status": [Status(s).word for s in self.verdict.status],
            "pulls": self.tally.counts.sum(axis=1),
        }
        for d, dim in enumerate(self.problem.decided):
            rows[f"{dim.name} low"], rows[f"{dim.name} high"] = low[:, d], high[:, d]
        return data_frame(rows)

    def plot_map(self) -> Figure:
        """Return the map of weights: where each group is proven best."""
        return self.map.plot()

    def plot(self, *dims: str) -> Figure:
        """Return the Pareto view of these dims, or of all: every pair, with the intervals as boxes.

        Without dims a map of weights is drawn as such.
        """
        if self.goal.maps and not dims:
            return self.plot_map()
        return pareto_view(self, *dims)

    def _repr_html_(self) -> str:
        return certificate_html(self)

    def __repr__(self) -> str:
        counts = (len(self.accepted), len(self.rejected), len(self.undecided))
        words = "in {}, out {}, undecided {}".format(*counts)
        return f"Certificate({words}, {self.pulls:,} observations, delta={self.delta:g})"

    def __str__(self) -> str:
        kind = self.goal.inside_words()
        how = "Proven" if self.guarantee.level == "proven" else "Decided without proof,"
        spare = f" Not needed: {len(self.not_needed)}." if self.not_needed else ""
        if self.goal.maps:
            spare = f"{spare} Weights: {self.map.words()}."
        none = "none yet" if self.undecided else "none"
        return (
            f"{self.pulls:,} observations. {how} {kind}: {', '.join(self.accepted) or none}. "
            f"{how} out: {len(self.rejected)}.{spare} "
            f"Undecided: {', '.join(self.undecided) or 'none'}.{self.beyond_words()}"
        )

    def beyond_words(self) -> str:
        """Return a sentence on what a study's observations prove beyond its decisions, if anything."""
        parts = [
            f"{status.word}: {', '.join(names)}"
            for status in (Status.IN, Status.OUT, Status.NOT_NEEDED)
            if (names := self._names(status, self.beyond))
        ]
        if not parts:
            return ""
        return f" The observations by themselves {self._prove()} {'; '.join(parts)}."

    def risk_words(self) -> str:
        """Return how likely an error is at most, in a few words; a void proof bounds nothing."""
        both = self.together
        added = both is not None and both.level == "proven"
        if self.guarantee.level == "none":
            alone = f"; of what the observations prove, error at most {self.delta:g}"
            return f"decisions without proof{alone if added else ''}"
        more = f", with what the observations prove beyond at most {2 * self.delta:g}"
        return f"error at most {self.delta:g}{more if added else ''}"

    def _prove(self) -> str:
        """Return what the observations do by themselves: signs against the assumptions void a proof."""
        both = self.together
        return "prove" if both is None or both.level == "proven" else "decide, without proof,"


def certify(
    observations: Any,
    goal: Goal,
    problem: Problem | None = None,
    delta: float = 0.05,
    noise: Noise | None = None,
    *,
    items: Items | int | str | None = None,
    order: Sequence[str] | None = None,
    arms_fixed: bool = True,
    columns: Any = None,
    minimise: Sequence[str] = (),
    watch: Sequence[str] = (),
    require: Mapping[str, Any] | None = None,
    worth: Any = "best",
) -> Certificate:
    """Return what observations prove, with error probability at most delta.

    `observations` is a CSV, TSV, JSON lines or Parquet file, a data frame, a dict of columns or a list
    of dicts, with columns group, arm and one for each dim; `columns` says what they are called and what
    to ignore, for example {"group": "model", "arm": "prompt", "item": "id", "ignore": ["when"]}. With
    the `problem` given, arms that were never measured count as unknown; without it the arms are those
    in the table, dims are to be maximised but for those in `minimise` and `watch`, `noise` must be given,
    and `require` and `worth` may be, as for `Problem`. Where a dim is missing in some rows, it is judged
    by those that have it.

    Groups and arms must have been fixed before the values were seen. If some were added on the way,
    say `arms_fixed=False`: the arms then share delta in the order in which they first come in the
    table, which must be that in which they were first pulled, and more observations are needed.

    With a column `item` the arms were scored on the same items, and differences on common items
    decide. `items` says what they are, if the problem does not: `bg.Items(...)`, their number, or
    "pool" or "population" for those that the table names. A pool that every arm was scored on
    is answered exactly. For a part of a pool `order` must name the items in the order that was drawn
    before there were values; without it a sample of a population is taken in the order of a digest of
    the items' names.

    >>> import bestgroup as bg
    >>> rows = [{"group": g, "arm": "a", "score": s} for g, s in [("A", 0.9), ("B", 0.1)] * 50]
    >>> print(certify(rows, bg.BestGroup([1]), noise=bg.Bounded(0, 1)))
    100 observations. Proven best: A. Proven out: 1. Undecided: none.
    """
    delta = probability(delta)
    notes: tuple[str, ...] = ()
    if problem is None:
        if noise is None:
            raise InvalidInput(
                "without a problem certify needs noise=..., for example bg.Bounded(0, 1)"
            )
        table = Table(observations, None, columns, keep=(*minimise, *watch), gaps=True)
        declared = None if isinstance(items, str) else items
        found_dims = directions(table, minimise, watch)
        problem = _problem_of(table, noise, declared, found_dims, require=require, worth=worth)
        notes = (
            *table.notes,
            "the arms are those in the table; arms that nobody measured are not considered",
        )
    elif noise is not None:
        raise InvalidInput("give the noise with the problem, not twice")
    elif items is not None:
        raise InvalidInput("give the items with the problem, not twice")
    elif minimise or watch:
        raise InvalidInput("the problem says which dims to minimise or watch; do not say it twice")
    elif require is not None or worth != "best":
        raise InvalidInput("give require and worth with the problem, not twice")
    else:
        table = Table(observations, [dim.name for dim in problem.dims], columns, gaps=True)
        notes = table.notes
    goal = check_goal(goal, [dim.name for dim in problem.decided])
    if table.has_items and isinstance(problem.noise, SubGaussian | Gaussian):
        problem = problem.with_dependent_arms()
        notes = (
            *notes,
            "without a range of the values their items are not used: arms count singly",
        )
    elif table.has_items or problem.items is not None:
        if not arms_fixed:
            raise InvalidInput("arms_fixed=False is not for arms that share items")
        target = items if isinstance(items, str) else None
        return _certify_items(table, problem, goal, delta, notes, order, target)
    if order is not None or (items is not None and not table.has_items):
        which = "order is" if order is not None else "items are"
        raise InvalidInput(f"{which} for tables with a column 'item'")
    checker = checker_of(problem)
    try:
        found = tally_of(table, problem, goal, delta, checker)
    except HasGaps:
        if not arms_fixed:
            raise InvalidInput(
                f"{table.name}: arms_fixed=False needs a table in which no dim is missing"
            ) from None
        tally, verdict, more = judge_gaps(table, problem, goal, delta, checker_of(problem))
        guarantee = data_guarantee(problem, goal, delta, verdict).resting_on(MISSING)
        made = Certificate(problem, goal, delta, tally, verdict, guarantee, (*notes, *more[0]))
        made = replace(made, proof_of=partial(data_proof, table=table, gaps=True))
        return made.with_doubts(more[1])
    came = None if arms_fixed else found.order
    made = certificate_from(found.tally, problem, goal, delta, notes, found.pivots, came)
    made = replace(made, proof_of=partial(data_proof, table=table, came=came))
    if made.undecided and "index" in table.columns:
        made = replace(made, notes=(*made.notes, EXPORTED))
    return made.with_doubts(checker.doubts())


def checker_of(problem: Problem) -> Checker:
    """Return what looks for signs against the assumptions of a problem."""
    return Checker(problem.noise, [dim.name for dim in problem.measured], problem.shape.total)


def directions(table: Table, minimise: Sequence[str], watch: Sequence[str]) -> dict[str, str]:
    """Return "max", "min" or "watch" for each dim of a table."""
    for name in (*minimise, *watch):
        if name not in table.dims:
            raise InvalidInput(
                f"{table.name}: there is no column {name!r}; the dims are {', '.join(table.dims)}"
            )
    both = sorted(set(minimise) & set(watch))
    if both:
        raise InvalidInput(f"the dim {both[0]!r} cannot be minimised and only watched")
    return {
        dim: "watch" if dim in watch else "min" if dim in minimise else "max" for dim in table.dims
    }


def _certify_items(
    table: Table,
    problem: Problem,
    goal: Goal,
    delta: float,
    notes: tuple[str, ...],
    order: Sequence[str] | None,
    target: str | None = None,
) -> Certificate:
    """Return what a table of shared items proves."""
    table.gaps = [dim.name for dim in problem.dims if dim.direction == "watch"]
    if not table.has_items:
        raise InvalidInput(f"{table.name}: arms share items, so there must be a column 'item'")
    rows = read_rows(table, problem)
    named = None
    if target is not None:  # a declared order names items, too, that no row has yet
        named = Items(max(len(rows.names), len({*map(str, order or ())})), target=target)
    items, note = items_of(rows, problem.items or named, order)
    problem = problem.with_items(items)
    shared = problem.shared
    assert shared is not None
    values, left_out = item_table(rows, problem, items, order)
    verdict = judge_items(values, problem.shape, goal, shared, delta, problem.measure)
    guarantee = _items_guarantee(problem, goal, delta, order is not None)
    if shared.pool and values.is_complete(shared.count):
        guarantee = _certainty(problem, goal)
    tally = _item_tally(values, problem)
    extra = () if note is None else (note,)
    return Certificate(
        problem,
        goal,
        delta,
        tally,
        verdict,
        guarantee,
        (*notes, *extra, *left_out),
        values,
        basis=Basis(tally, np.zeros_like(tally.sums), values),
        proof_of=partial(items_proof, table=table, order=order),
    )


def _item_tally(values: ItemTable, problem: Problem) -> Tally:
    """Return counts and sums of what arms have passed, in items."""
    shape = problem.shape
    tally = empty_tally(shape.groups, shape.arms, shape.dims)
    means = arm_means(values, shape)
    for i, group in enumerate(values.values):
        for j, arm in enumerate(group):
            tally.counts[i, j] = int(values.sizes[: len(arm)].sum())
            if len(arm):
                tally.sums[i, j] = means[i, j] * tally.counts[i, j]
    return tally


def _items_guarantee(problem: Problem, goal: Goal, delta: float, declared: bool) -> Guarantee:
    assert problem.items is not None
    words = decisions_statement(goal, delta) + words_of(problem.measure)
    words += "; with the same probability, by a proof of their own, all intervals hold"
    order = "the order of the items was drawn at random before any value was seen"
    if not declared:
        order = (
            "the items are independent draws; their order is that of a digest of their names, which "
            "no value chose"
        )
    assumptions = (
        problem.items.question(),
        *problem.assumptions(),
        order,
        "arms may depend on each other in any way",
        FIXED,
        ALL,
    )
    return Guarantee("proven", words, assumptions)


def _certainty(problem: Problem, goal: Goal) -> Guarantee:
    """Return what a pool is worth that every arm was scored on: no probability enters."""
    assert problem.items is not None
    words = (
        "every arm was scored on every item, so the answer is certain: the groups that are in are "
        f"{goal.certain}{words_of(problem.measure)}"
    )
    return Guarantee("proven", words, (problem.items.question(), *problem.treatment(), ALL))


def certificate_from(
    tally: Tally,
    problem: Problem,
    goal: Goal,
    delta: float,
    notes: tuple[str, ...] = (),
    pivots: Floats | None = None,
    came: Sequence[tuple[int, int]] | None = None,
) -> Certificate:
    """Return what a tally proves, with sums about `pivots` [N, K, D] if they are given.

    `came` has the arms in the order in which they came, if they were not fixed beforehand.
    """
    about = np.zeros_like(tally.sums) if pivots is None else pivots
    setting = problem.shape, goal, problem.noise, delta
    if came is None:
        verdict = judge_for(problem.measure, tally, about, *setting)
    else:
        verdict = judge_as_they_came(tally, about, *setting, came, problem.measure)
    guarantee = data_guarantee(problem, goal, delta, verdict, came is None)
    basis = Basis(tally, about) if came is None else None
    tally = of_values(tally, about)
    return Certificate(problem, goal, delta, tally, verdict, guarantee, notes, basis=basis)


class HasGaps(Exception):
    """A decided dim is missing in some row: one count for all dims of an arm does not do."""


class Collected(NamedTuple):
    """What is kept of a table."""

    tally: Tally  # with sums about the pivots
    pivots: Floats  # [N, K, D]
    order: list[tuple[int, int]]  # groups and arms as they first came


def tally_of(
    table: Table, problem: Problem, goal: Goal, delta: float, checker: Checker | None = None
) -> Collected:
    """Return the tally of all rows of a table; a refusal names the line."""
    shape, noise = problem.shape, problem.noise
    scales = noise.scales(shape.dims) if noise.has_scale else np.zeros(shape.dims)
    rule = noise.boxes(shape, delta)
    if problem.measure is None:
        rule = kept(shape, goal, noise, delta)
    summed = len(rule.weights) > 0
    tally = empty_tally(shape.groups, shape.arms, shape.dims, rule.start, summed)
    found = Collected(tally, np.zeros_like(tally.sums), [])
    pivots, body = found.pivots, take_values
    for portion in table.portions():
        if len(portion.groups) * (10 + len(rule.start)) > 20_000:  # worth a compilation
            body = take_values.compiled
        portion.check(problem, table.name)
        oriented = problem.to_internal(portion.values)
        if np.isnan(oriented).any():
            raise HasGaps
        for group, arm, values in replace(portion, values=oriented).by_arm():
            i, j = problem.index(group, arm)
            if not tally.counts[i, j]:
                found.order.append((i, j))
                pivots[i, j] = pivot_of(values[0], scales)
            before = tally.sums[i, j].copy()
            body(rule, tally, i, j, np.ascontiguousarray(values))
            add_deviations(tally, pivots[i, j], i, j, before, values)
            if checker is not None:
                name = f"{problem.groups[i]}, {problem.arms[i][j]}"
                checker.add(name, problem.to_user(values))
    return found


def _problem_of(
    table: Table, noise: Noise, items: Items | int | None, dims: dict[str, str], **counts: Any
) -> Problem:
    groups: dict[str, dict[str, None]] = {}
    for portion in table.portions():
        for group, arm in dict.fromkeys(zip(portion.groups, portion.arms, strict=True)):
            groups.setdefault(group, {})[arm] = None
    if not groups:
        raise InvalidInput(f"{table.name}: there are no observations")
    return Problem(
        {group: list(arms) for group, arms in groups.items()},
        dims,
        noise,
        items=items,
        **counts,
    )


FIXED = "groups, arms, dims, weights and delta were fixed before the values were seen"
EXPORTED = (
    "if these are the rows of a study, what its algorithm has decided stands, also where this says "
    "undecided: its proof rests on what it fixed while it ran, such as shares of delta; to decide as it "
    "did, give the algorithm, too (certify_as_study, certify --as-study)"
)
ALL = "no observation was left out or picked because of its value"
AS_THEY_CAME = (
    "given what was seen before an arm came, and its own earlier pulls, its next pull has its mean and "
    "that noise",
    "groups and arms may have been added because of what was seen; the table has them in the order in "
    "which they were first pulled",
    "dims and delta were fixed before the values were seen",
)


def rests_on_several(problem: Problem, verdict: Verdict) -> bool:
    """Return whether what is proven needs that different arms are independent."""
    return verdict.pairs or rests_on_sums(problem.noise, problem.measure)


def data_guarantee(
    problem: Problem, goal: Goal, delta: float, verdict: Verdict, arms_fixed: bool = True
) -> Guarantee:
    """Return what a verdict on observations alone is worth."""
    if problem.items is not None:
        return _items_guarantee(problem, goal, delta, True)
    words = decisions_statement(goal, delta) + words_of(problem.measure)
    if verdict.pairs:
        words += "; with the same probability, by a proof of their own, all intervals hold"
    else:
        words += ", and all intervals hold"
    arms = SEVERAL_ARMS if rests_on_several(problem, verdict) else SINGLE_ARMS
    if verdict.pairs and rests_on_symmetric_sums(problem.shape, goal, problem.noise, delta):
        arms = (*arms, SYMMETRIC_SUMS)
    if not arms_fixed:
        return Guarantee("proven", words, (*problem.assumptions(), *AS_THEY_CAME, ALL))
    return Guarantee("proven", words, (*problem.assumptions(), *arms, FIXED, ALL))


_KEPT = {OPEN: "open", COUNTS: "keeps", BARRED: "breaks"}


def _word(status: int) -> str | None:
    return None if status == Status.UNDECIDED else Status(status).word


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
