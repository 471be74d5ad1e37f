"""`solve`: runs the user's evaluator until the answer is proven, or a budget is spent.

A study does the bookkeeping. Evaluations that fail are tried again with the same seed, so that
failing or slow outcomes are not selected away; after the last try the study pauses and names the
arm. A value outside the bounds that were promised stops everything: the proof no longer holds.
"""

from __future__ import annotations

import logging
import math
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from bestgroup.algorithms.protocol import Algorithm
from bestgroup.algorithms.registry import algorithm as make_algorithm
from bestgroup.analysis.certificate_card import certificate_parts, facts
from bestgroup.analysis.certify import Certificate
from bestgroup.analysis.deploy import Deployment, Guess
from bestgroup.analysis.weight_regions import MappedWeights
from bestgroup.errors import BestGroupError, EvaluationFailed, InvalidInput, NoSuchStudy
from bestgroup.problem.arrays import is_integer, positive_int
from bestgroup.problem.goals import Goal, check_goal
from bestgroup.problem.markup import card, folded
from bestgroup.problem.problem import Problem
from bestgroup.studies.budget import Budget
from bestgroup.studies.catalog import Study, create_study, load_study
from bestgroup.studies.evaluators import Evaluator, Pull
from bestgroup.studies.loop import Job, Loop, Pace, Reply
from bestgroup.studies.report import Answer, Explanation, StudyStatus
from bestgroup.studies.solve_progress import SolveProgress
from bestgroup.studies.storage.memory import MemoryStore
from bestgroup.studies.ticket import Ticket

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_AHEAD = 4  # tickets held for each worker, so that a storage is asked less often
_FIRST_CHECK = 6  # observations; then at twice as many each time
_MOST_SAID = 10  # warnings
log = logging.getLogger("bestgroup")
_LEASE = 60.0  # seconds; renewed while a ticket is held, so that a crash frees it soon
Callback: TypeAlias = Callable[[Study, StudyStatus], object]


@dataclass(frozen=True)
class Options:
    """How evaluations are run."""

    workers: int = 1
    timeout: float | None = None
    retries: int = 2
    rate: float | None = None  # evaluations a second, at most
    budget: int | None = None  # evaluations in all, those before this call included
    progress: bool | None = None  # a bar; by default at a terminal
    per_arm: int | None = None  # evaluations of one arm at a time, at most
    together: int = 64  # items in one call of evaluate_many, at most
    callbacks: tuple[Callback, ...] = ()  # called whenever values were told
    budget_cost: Any = None  # cost in all, or a dict from a measured dim to its sum


@dataclass(frozen=True)
class Solution:
    """The answer, or what is known when the budget was spent, and the study it came from."""

    answer: Answer
    explanations: dict[str, Explanation]  # why each group has its status
    certificate: Certificate  # the decisions, the intervals, and what the values prove beyond
    study: Study
    seconds: float

    def to_frame(self) -> Any:
        """Return all observations as a pandas data frame: group, arm, index and the dims."""
        return self.study.to_frame()

    def plot(self, *dims: str) -> Figure:
        """Return the Pareto view of these dims, or of all: every pair, with the intervals as boxes."""
        return self.certificate.plot(*dims)

    def _repr_html_(self) -> str:
        text = str(self)
        why = folded(
            "Why", [words.because or words.sentence for words in self.explanations.values()]
        )
        table, *rest = certificate_parts(self.certificate)
        title = f"{text[0].upper()}{text[1:]}"
        return card(title, facts(self.certificate), table, why, *rest)

    def __repr__(self) -> str:
        return f"Solution({self})"

    def save(self, path: Any, *, chain: Any = None, key: Any = None) -> int:
        """Write all observations to a .csv or .parquet file; returns the number of rows.

        `chain` and `key` are those of `Study.export`.
        """
        return self.study.export(path, chain=chain, key=key)

    @property
    def map(self) -> MappedWeights:
        """Which group is proven best for which weights; for the goal `WeightMap`."""
        return self.certificate.map

    def deploy(self) -> list[Deployment]:
        """Return, for each group that is in, which of its arms to take (`Certificate.deploy`)."""
        return self.certificate.deploy()

    def guess(self) -> Guess:
        """Return the best guess, of use when a budget was spent (`Certificate.guess`)."""
        return self.certificate.guess()

    def course(self) -> Any:
        """Return what was proven after how many pulls, as a data frame (`Study.course`)."""
        return self.study.course()

    def ties(self, epsilon: Any = None) -> list[tuple[str, str]]:
        """Return the pairs of groups that are proven within epsilon (`Certificate.ties`)."""
        return self.certificate.ties(epsilon)

    def limits_kept(self) -> dict[str, dict[str, str]]:
        """Return which arms keep the limits, as far as proven (`Certificate.limits_kept`)."""
        return self.certificate.limits_kept()

    def save_proof(self, path: Any, *, key: Any = None) -> str:
        """Write a proof file of the answer; returns its digest. `save` writes the rows it is about."""
        return self.study.save_proof(path, key=key)

    @property
    def proven(self) -> bool:
        """Whether the answer is final, and its algorithm's answers are proven."""
        return self.answer.final and self.answer.guarantee.level == "proven"

    def __str__(self) -> str:
        known = self.answer
        if known.final:
            price = "" if known.cost is None else f" (cost {known.cost:,.6g})"
            how = "proven" if self.proven else "answered without proof"
            share = self.certificate.share
            saved = "" if share is None else f", {1 - share:.0%} of the table saved"
            named = ", ".join(known.groups) or "no group has an arm that keeps the limits"
            return f"{how} after {known.pulls:,} pulls{price}{saved}: {named}"
        guess = known.guess.groups if known.guess is not None else ()
        return (
            f"not decided after {known.told:,} pulls; in: {', '.join(known.inside) or 'none'}; "
            f"out: {', '.join(known.outside) or 'none'}; undecided: {', '.join(known.undecided)}"
        ) + (f"; best guess: {', '.join(guess)}" if guess else "")


def solve(
    problem: Problem,
    goal: Goal,
    evaluate: Callable[..., Any] | str | None = None,
    delta: float = 0.05,
    *,
    evaluate_many: Callable[..., Any] | None = None,
    known: Any = None,
    storage: str | None = None,
    name: str | None = None,
    algorithm: str | Algorithm = "auto",
    batch: int | None = None,
    seed: int = 0,
    workers: int = 1,
    timeout: float | None = None,
    retries: int = 2,
    rate: float | None = None,
    budget: int | None = None,
    budget_cost: float | Mapping[str, float] | None = None,
    per_arm: int | None = None,
    together: int = 64,
    progress: bool | None = None,
    callbacks: Sequence[Callback] = (),
) -> Solution:
    """Return the proven answer from an evaluator, or what is known when the budget is spent.

    With `storage` the study is kept, and the same call goes on where it was; without it the
    solution keeps the observations (`to_frame`, `save`), and so does `study` of the error if an
    evaluation fails or Ctrl-C stops it. The logger "bestgroup" tells decisions and retries at level
    INFO, and at WARNING what speaks against the assumptions.

    Parameters
    ----------
    problem, goal, delta
        What is asked, of what, and how often the answer may be wrong.
    evaluate
        A function of (group, arm[, seed]), plain or async, or a command line with {group}, {arm} and
        {seed}. Where arms share items: of (group, arm, item[, seed]), or a command with {item}.
    evaluate_many
        In place of `evaluate`, for shared items that are scored several at once: a function of
        (group, arm, items[, seeds]).
    known
        A table (group, arm, item, dims) of what was evaluated before: taken up at no cost when an arm
        comes to the item. The order of the items is drawn from the seed without looking at it.
    storage, name
        Where the study is kept ("sqlite:///FILE", "postgresql://..."), and what it is called there.
    algorithm, batch, seed
        As in `create_study`; `batch` is by default one pull for each worker.
    workers, timeout, retries
        How many evaluations run side by side, after how many seconds one has failed, and how often
        a failed one is tried again, with its seed.
    rate, budget, per_arm
        At most so many evaluations a second, in all (those before this call included), and of one
        arm at a time. "sequential-halving" takes the budget for its own.
    budget_cost
        At most so much cost in all, by the problem's `costs`; or a dict from the name of a dim that
        is measured, such as {"seconds": 3600}: nothing is begun once its sum has come to that.
    together
        At most so many items in one call of `evaluate_many`.
    progress
        Show how far it is; by default at a terminal and in a notebook.
    callbacks
        Functions of (study, status), called in this thread whenever values were told. One that
        returns True ends the call as a spent budget does.

    >>> import bestgroup as bg
    >>> problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"score": "max"}, bg.SubGaussian(1.0))
    >>> found = solve(problem, bg.BestGroup([1]), lambda group, arm: {"a": 5.0, "b": 0.0}[arm])
    >>> found.answer.groups
    ('A',)
    """
    settings = _checked(
        Options(
            workers,
            timeout,
            retries,
            rate,
            budget,
            progress,
            per_arm,
            together,
            _called(callbacks),
            budget_cost,
        )
    )
    Budget(problem, budget, budget_cost)  # refused before anything is stored
    if batch is None and workers > 1:
        batch = workers  # a plan of one pull would keep one worker busy
    evaluator = _evaluator(problem, evaluate, evaluate_many, settings)
    label = name or ("solve" if storage else f"solve {uuid.uuid4()}")
    evaluator.check(problem)
    place = storage or MemoryStore()  # the solution holds it, and all that was measured
    chosen = _with_budget(algorithm, budget)
    study = _open(label, problem, goal, delta, place, chosen, batch, seed)
    begun = time.monotonic()
    try:
        if known is not None and study.status(forecast=False).state == "running":
            study.import_observations(known)
        _Solving(study, evaluator, settings).solve()
        seconds = time.monotonic() - begun
        why = {group: study.explain(group) for group in study.problem.groups}
        found = Solution(study.answer(), why, study.certificate(), study, seconds)
        log.info("%s", found)
        return found
    except (KeyboardInterrupt, BestGroupError) as error:
        _say_where(error, study, storage)
        raise
    finally:
        evaluator.close()


def _evaluator(problem: Problem, one: Any, many: Any, settings: Options) -> Evaluator:
    if (one is None) == (many is None):
        raise InvalidInput("solve needs evaluate or evaluate_many, and not both")
    if many is None:
        return Evaluator(one, settings.timeout, items=problem.items is not None)
    if problem.items is None or isinstance(many, str):
        raise InvalidInput("evaluate_many is a function for problems whose arms share items")
    if problem.items.repeats > 1:
        raise InvalidInput("evaluate_many gives one row an item; average repeats inside it")
    return Evaluator(many, settings.timeout, many=True)


def _checked(settings: Options) -> Options:
    positive_int(settings.workers, "workers")
    positive_int(settings.together, "together")
    if settings.per_arm is not None:
        positive_int(settings.per_arm, "per_arm")
    if not is_integer(settings.retries) or settings.retries < 0:
        raise InvalidInput(f"retries must be an integer from 0; got {settings.retries!r}")
    if settings.rate is not None and not 0 < settings.rate < float("inf"):
        raise InvalidInput(f"rate must be a positive number; got {settings.rate!r}")
    return settings


def _with_budget(algorithm: str | Algorithm, budget: int | None) -> str | Algorithm:
    """Return the algorithm with the budget as its own, if it works with one and has none yet."""
    if algorithm == "auto" or budget is None:
        return algorithm
    options = make_algorithm(algorithm).options()
    if options.get("budget", budget) is not None:
        return algorithm
    return type(make_algorithm(algorithm))(**{**options, "budget": budget})


def _called(callbacks: Any) -> tuple[Callback, ...]:
    """Return the functions to call when values were told."""
    found = callbacks if isinstance(callbacks, list | tuple) else (callbacks,)
    for one in found:
        if not callable(one):
            raise InvalidInput(f"callbacks must be functions of (study, status); got {one!r}")
    return tuple(found)


def _open(
    name: str,
    problem: Problem,
    goal: Goal,
    delta: float,
    place: str | MemoryStore,
    algorithm: str | Algorithm,
    batch: int | None,
    seed: int,
) -> Study:
    try:
        study = load_study(name, place)
    except NoSuchStudy:
        study = None  # a new file, or a new name in it
    if study is None:
        return create_study(
            name, problem, goal, delta, place, algorithm=algorithm, batch=batch, seed=seed
        )
    spec = study.spec
    goal = check_goal(goal, [dim.name for dim in problem.decided])
    for what, ours, theirs in (
        ("problem", problem, spec.problem if spec.roster is None else spec.roster.base),
        ("goal", goal, spec.goal),
        ("delta", float(delta), spec.delta),
    ):
        if ours != theirs:
            raise InvalidInput(
                f"the study {name!r} in {place} has another {what}; give another name or storage"
            )
    return study


def _say_where(error: BaseException, study: Study, storage: str | None) -> None:
    """Add to an error where the observations are: nothing that was paid for is lost."""
    told = study.status(forecast=False).told
    if storage is None:
        error.study = study  # type: ignore[attr-defined]
        where = "in `study` of this error: error.study.export('rows.csv') writes them"
    else:
        where = f"in the study {study.name!r} in {storage}; the same call goes on"
    error.add_note(f"the {told:,} rows that were measured are {where}")


class _Here:
    """A study in this process as a source of jobs."""

    def __init__(self, study: Study, size: int, budget: Budget) -> None:
        self.study, self.problem, self.size, self._budget = study, study.problem, size, budget

    def ask(self, n: int) -> Reply:
        """Return up to `n` jobs."""
        jobs = [_job(ticket) for ticket in self.study.ask(n, self.size, lease=_LEASE)]
        return Reply(jobs, "running" if jobs else self.study.status(forecast=False).state)

    def tell(self, results: Sequence[tuple[Job, Any]], n: int) -> Reply:
        """Tell rows of values, and return up to `n` further jobs."""
        told = self.study.tell_many([(job.ticket, rows) for job, rows in results])
        for job, rows in results:
            self._budget.add(job.group, job.arm, rows)
        return (self.ask(n) if n else Reply())._replace(told=told)

    def fail(self, job: Job, reason: str) -> None:
        """Give a job back that could not be evaluated."""
        self.study.fail(job.ticket, reason)

    def hold(self, jobs: Sequence[Job], lease: float) -> list[int]:
        """Hold leases for some more seconds; returns the places of those that were lost."""
        return self.study.hold([job.ticket for job in jobs], lease)[1]


def _job(ticket: Ticket) -> Job:
    items = ticket.items or (None,) * ticket.repeats
    pulls = tuple(map(Pull, ticket.seeds, items))
    return Job(ticket.group, ticket.arm, ticket.index, pulls, ticket)


class _Solving(Loop):
    """The loop with a budget, a rate, a bar, and a word about assumptions while it runs."""

    def __init__(self, study: Study, evaluator: Evaluator, settings: Options) -> None:
        pace = Pace(
            threads=settings.workers if settings.workers > 1 else 0,
            ahead=_AHEAD * settings.workers,
            lease=_LEASE,
            retries=settings.retries,
            per_arm=settings.per_arm,
        )
        limits = settings.budget, settings.budget_cost
        self._budget = Budget(study.problem, *limits, everyone=lambda: study.spec.everyone)
        self._budget.before(study.blocks())
        self._size = settings.together if evaluator.many else 1
        self._here = _Here(study, self._size, self._budget)
        super().__init__(self._here, evaluator, pace)
        self._study, self._settings = study, settings
        self._rate = _RateLimit(settings.rate)
        self._bar = SolveProgress(study, settings.progress, settings.budget)
        self._check = _FIRST_CHECK  # observations at which the assumptions are checked next
        self._said: set[str] = set()
        self._decided = (0, 0, 0)

    def solve(self) -> None:
        """Run until nothing is left to ask, or to spend."""
        with self._bar:
            try:
                self.run()
            finally:
                self.close()

    def wish(self) -> int:
        """Return how many more jobs to ask for: no more than the budget has left."""
        wanted = super().wish()
        jobs = [job for job, _ in (*self._queue, *self._running.values(), *self._ready)]
        under_way = [(job.group, job.arm) for job in jobs for _ in job.pulls]
        left = self._budget.left(under_way)
        if left == math.inf:
            return wanted
        # A ticket of several items holds no more than what is left.
        self._here.size = max(1, min(self._size, math.floor(left)))
        return min(wanted, math.floor(left / self._here.size))

    def rows(self, job: Job) -> Any:
        """Return the values of a job's pulls, begun no faster than the rate allows."""
        self._rate.wait()
        return super().rows(job)

    def give_up(self, job: Job, tries: int, error: EvaluationFailed) -> None:
        """Pause the study, and name the arm."""
        times = "once" if tries == 0 else f"{tries + 1} times"
        blocks = (
            "" if job.pulls[0].item is None else ", which blocks the arm; a floor lets it go on"
        )
        raise EvaluationFailed(
            f"the evaluator failed {times} for the arm {job.arm!r} of {job.group!r} "
            f"({job.where}{blocks}): {error}; the study pauses: fix it and run again",
            job.group,
            job.arm,
            *job.pulls[0],
        )

    def try_again(self, job: Job, error: EvaluationFailed) -> None:
        """Note that a job failed and will be tried again."""
        log.info("%r of %r failed and is tried again: %s", job.arm, job.group, error)

    def after_tell(self) -> None:
        """Move the bar, call back, and say what speaks against the assumptions in time to stop."""
        self._bar.update()
        self._call_back()
        spent = self._budget.told
        if spent >= self._check:
            self._check = max(2 * self._check, spent + 1)
            self._say_doubts()

    def _call_back(self) -> None:
        """Let the callbacks and the log know where the study stands."""
        heard = log.isEnabledFor(logging.INFO)
        if not heard and not self._settings.callbacks:
            return
        status = self._study.status(forecast=False)
        decided = (status.groups_in, status.groups_out, status.not_needed)
        if heard and decided != self._decided:
            words = "after %s pulls: in %d, out %d, undecided %d"
            log.info(words, f"{status.pulls:,}", *decided[:2], status.undecided)
        self._decided = decided
        for one in self._settings.callbacks:
            if one(self._study, status) is True:
                self.stop.set()

    def _say_doubts(self) -> None:
        """Say what speaks against the assumptions, once each."""
        for doubt in self._study.doubts():
            kind = " ".join(doubt.text.split()[:4])  # its numbers change from check to check
            if kind not in self._said and len(self._said) < _MOST_SAID:
                self._said.add(kind)
                log.warning("%s", doubt.text)


class _RateLimit:
    """Lets evaluations start at no more than a given rate."""

    def __init__(self, rate: float | None) -> None:
        self._gap = 0.0 if rate is None else 1.0 / rate
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Wait for the next start."""
        if not self._gap:
            return
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next)
            self._next = start + self._gap
        time.sleep(max(start - now, 0.0))
