"""What requests and responses hold; the OpenAPI is made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

MOST_TICKETS = 10_000  # in one request
MOST_ROWS = 100_000  # of values in one request

NO_NUL = r"^[^\x00]*$"  # PostgreSQL keeps no texts with one
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=NO_NUL)]
named: TypeAdapter[str] = TypeAdapter(Name)
Count = Annotated[int, Field(ge=0)]
State = Literal["running", "done", "stuck"]
# Lower bound, estimate, upper bound; none where there is no finite one.
Ends = Annotated[list[float | None], Field(min_length=3, max_length=3)]
GroupStatus = Literal["in", "out", "not needed", "undecided"]
STATUSES: tuple[GroupStatus, ...] = ("in", "out", "not needed", "undecided")


class _Body(BaseModel):
    """A request's body: an entry that is not known is a mistake."""

    model_config = ConfigDict(extra="forbid")


class GoalBody(_Body):
    """The question."""

    kind: Literal["pareto", "best", "top", "map"]
    epsilon: float | list[float] | dict[Name, float] = 0.0
    weights: (
        list[float] | dict[Name, float] | list[list[float]] | list[dict[Name, float]] | None
    ) = Field(
        None,
        description="one for each decided dim, in their order or by name, for 'best' and 'top'; for "
        "'map' a list of vertices, each such weights, or none for all weights",
    )
    m: int | None = Field(None, ge=1, description="how many groups; for 'top' only")
    share: float | None = Field(None, description="of the weights to be mapped; for 'map' only")


class ProblemBody(_Body):
    """Groups with their arms, dims, noise and costs, as `Problem.to_dict` writes them."""

    groups: dict[Name, list[Name]]
    dims: dict[Name, Any] = Field(
        description='"max", "min", "watch", or a table of direction, unit, low, high, transform, clip'
    )
    noise: dict[str, Any] | None = Field(
        None, description="may be left out where every decided dim has a range: bounded then"
    )
    costs: dict[str, Any] | None = None
    reserve: int = Field(0, ge=0, le=10**6, description="arms that may join later")
    items: dict[str, Any] | None = Field(
        None, description="where arms are scored on the same items: count, target, names, floor"
    )
    require: dict[Name, list[Any]] | None = Field(
        None, description='limits by dim that the mean of an arm must keep: ["<=", 2.0, tolerance]'
    )
    worth: str | list[Any] | None = Field(
        None, description='of a group: "best", "mean", "worst", ["kth", k] or ["quantile", q]'
    )


class CreateBody(_Body):
    """A new study."""

    name: Name
    problem: ProblemBody
    goal: GoalBody
    delta: float = 0.05
    algorithm: str = Field("auto", max_length=100)
    batch: int | None = Field(None, ge=1, le=10**6)
    horizon: int = Field(0, ge=0, le=10**6)
    seed: int = Field(0, ge=0, le=2**53 - 1)


class FileBody(_Body):
    """A problem file."""

    text: str = Field(max_length=2**20, description="TOML, as `bestgroup study create` takes it")
    name: Name | None = Field(None, description="in place of the file's")
    horizon: int = Field(0, ge=0, le=10**6)
    seed: int = Field(0, ge=0, le=2**53 - 1)


class AskBody(_Body):
    """How many tickets, of how many pulls each, for whom and for how long."""

    n: int = Field(1, ge=1, le=MOST_TICKETS)
    repeats: int = Field(1, ge=1, le=MOST_ROWS)
    lease: float = Field(600.0, gt=0, le=10**8, description="seconds")
    owner: Name

    @model_validator(mode="after")
    def _check_size(self) -> AskBody:
        if self.n * self.repeats > MOST_ROWS:
            raise ValueError(f"n times repeats must be at most {MOST_ROWS}")
        return self


class TicketBody(BaseModel):
    """A ticket that is given back; entries beyond these are not looked at."""

    group: str
    arm: str
    index: int = Field(ge=0, lt=2**53)
    repeats: int = Field(1, ge=1, le=MOST_ROWS)
    owner: str = Field("", max_length=200, pattern=NO_NUL)
    identity: str = Field("", max_length=64, description="the study's, as the ticket had it")


class TicketOut(TicketBody):
    """Pulls index, ..., index + repeats - 1 of an arm, leased until `expires`."""

    study: str
    expires: float
    seed: int
    seeds: list[int] = Field(description="one a pull")
    item: str | None = Field(None, description="what the first pull is scored on")
    items: list[str] | None = Field(None, description="one a pull, where arms share items")


class Asked(BaseModel):
    """Tickets; none if all that is wanted is leased or the study has ended."""

    tickets: list[TicketOut]
    state: State


class Result(_Body):
    """The values of a ticket's pulls: one row of all dims, or several rows."""

    ticket: TicketBody
    values: list[float] | list[list[float]] = Field(union_mode="left_to_right")

    @property
    def rows(self) -> list[Any]:
        """The values with one row a pull."""
        return self.values if self.values and isinstance(self.values[0], list) else [self.values]


class TellBody(_Body):
    """Results that are taken together or not at all."""

    results: list[Result] = Field(min_length=1, max_length=MOST_TICKETS)
    ask: AskBody | None = Field(None, description="the next tickets, in the same request")


class Told(BaseModel):
    """How many observations were new (those known before are not), and tickets if asked for."""

    new: Count
    state: State
    tickets: list[TicketOut] = []


class FailBody(_Body):
    """A ticket that could not be measured."""

    ticket: TicketBody
    reason: str = Field("", max_length=1000, pattern=NO_NUL)


class JoinBody(_Body):
    """Arms that join a group, or a new group."""

    group: str = Field(min_length=1, max_length=1000, pattern=NO_NUL)
    arms: list[str] = Field(min_length=1, max_length=1000)
    cost: float | None = Field(None, gt=0, description="of a pull, if the problem gives costs")
    new: bool = Field(False, description="whether the group is a new one")


class LeaveBody(_Body):
    """An arm that leaves, or a whole group."""

    group: str = Field(min_length=1, max_length=1000, pattern=NO_NUL)
    arm: str | None = Field(None, max_length=1000, description="none: all arms of the group")


class BeatBody(_Body):
    """Leases to hold for some more seconds."""

    tickets: list[TicketBody] = Field(min_length=1, max_length=MOST_TICKETS)
    lease: float = Field(600.0, gt=0, le=10**8)


class Beaten(BaseModel):
    """When the leases end now, and the places in the request of those that were lost."""

    expires: float
    lost: list[int]


class Done(BaseModel):
    """Nothing more to say."""

    ok: Literal[True] = True


class Listed(BaseModel):
    """A study in the list."""

    name: str
    created: float
    state: State
    plan: Count
    told: Count
    pulls: Count
    identity: str


class Studies(BaseModel):
    """All studies of the storage."""

    studies: list[Listed]


class DimOut(BaseModel):
    """A dim; watched ones decide nothing."""

    name: str
    direction: Literal["max", "min", "watch"]
    unit: str | None = None


class Failure(BaseModel):
    """A ticket that failed and is not told yet."""

    group: str
    arm: str
    index: Count
    times: Count
    reason: str


class StatusOut(BaseModel):
    """Where a study stands: `pulls` are consumed, `told` are paid for."""

    name: str
    state: State
    algorithm: str
    plan: Count
    pulls: Count
    told: Count
    groups_in: Count
    groups_out: Count
    undecided: Count
    free: Count
    leased: Count
    overdue: Count
    workers: dict[str, Count]
    failures: list[Failure]
    cost: float | None = Field(None, description="of the consumed pulls, if arms have costs")
    forecast: float | None = Field(None, description="more pulls until the end, about")
    not_needed: Count = Field(0, description="groups that may be better, by no more than epsilon")
    warnings: list[str] = Field([], description="what speaks against the assumptions")


class StudyOut(BaseModel):
    """What a study is pinned to."""

    name: str
    identity: str = Field(description="random; a later study of the same name has another")
    problem: dict[str, Any]
    dims: list[DimOut]
    goal: dict[str, Any]
    delta: float
    algorithm: str
    algorithm_version: int
    options: dict[str, Any]
    horizon: Count
    seed: int
    library: str
    state: State


class GuaranteeOut(BaseModel):
    """What an answer is worth, with all that it rests on."""

    level: str
    statement: str
    assumptions: list[str]


class GuessOut(BaseModel):
    """The whole answer that the values speak for."""

    groups: list[str]
    level: float | None = Field(description="post hoc: 1 over an e-value; none where boxes decide")
    text: str


class DeployOut(BaseModel):
    """What is known of the arms of a group that is in."""

    group: str
    arm: str | None = Field(description="proven to be as good as any arm of the group")
    how: str
    by_dim: dict[str, tuple[str, bool]] = Field(description="by dim: the arm, whether proven")
    one: bool | None = Field(description="whether one arm has the group's worth in every dim")
    arms: dict[str, str]
    behind: float | None
    text: str


class ChangedOut(BaseModel):
    """Who takes part, after arms have joined or left."""

    changes: list[dict[str, Any]] = Field(description="kind, group, arms, pulls and time of each")
    left: int = Field(description="how many more arms may join")
    state: State
    groups: dict[str, list[str]] = Field(description="that take part now, with their arms")


class AnswerOut(BaseModel):
    """What is known of the question so far."""

    model_config = ConfigDict(populate_by_name=True)
    final: bool
    groups: list[str]
    inside: list[str] = Field(alias="in")
    outside: list[str] = Field(alias="out")
    not_needed: list[str]
    undecided: list[str]
    pulls: Count
    told: Count
    guarantee: GuaranteeOut
    cost: float | None = Field(None, description="of the consumed pulls, if arms have costs")
    guess: GuessOut | None = Field(None, description="before the end, beside what is proven")
    deploy: list[DeployOut] = Field([], description="which arm to take of each group that is in")
    ties: list[tuple[str, str]] = Field([], description="groups proven within epsilon")


class ExplanationOut(BaseModel):
    """Why a group is in, out, not needed or undecided."""

    group: str
    status: GroupStatus
    by: Literal["algorithm", "observations", ""] = Field(description="who proved it")
    sentence: str = Field(description="what the algorithm has decided, and when")
    text: str = Field(description="what its status rests on, or what it lacks")
    reasons: list[dict[str, Any]] = Field(description="comparisons with rivals, at most 50")
    best_arms: dict[str, list[Any]] = Field(description="by dim: the arm, whether proven")
    intervals: dict[str, Ends] = Field(description="of each efficiency")
    decision: dict[str, Any] | None
    arms: list[dict[str, Any]]
    efficiency: dict[str, float] | None
    radius: float | None


class Decisions(BaseModel):
    """Decisions in the order in which they were made; none is ever taken back."""

    decisions: list[dict[str, Any]]


class Imported(BaseModel):
    """How many observations a table brought; 0 for one that was imported before."""

    new: Count
    state: State


class Verified(BaseModel):
    """What the verifier says of a proof file that was just made."""

    verified: bool
    digest: str  # of the proof file
    lines: list[str]  # a page of text: what was checked, what is proven, under which assumptions
    failed: str | None  # the check that failed
    why: str | None
    claim: int | None  # at which claim


class DemoOut(BaseModel):
    """A demo study, and whether the server's own worker measures for it."""

    name: str
    working: bool
    demo: bool = True


class SessionOut(BaseModel):
    """Who is asking, and whom."""

    role: Literal["reader", "writer"]
    version: str


class Health(BaseModel):
    """The server answers and reaches its storage."""

    status: Literal["ok"] = "ok"
    version: str
