"""What a goal is to the rest of the library: numbers, truth, words, and how it is written down.

Nobody else asks which goal it is. A goal is a value that answers: what has to be known of its numbers
(`epsilons`, `weight_vector`, `worth_weights`), which answers are right (`optimal`, `good`, `needed`,
`is_right`, `endless`), how a page speaks of it, and what a file or a request holds (`read`,
`to_dict`). Theory, certificates and proofs, which are other mathematics for each goal, choose it by
`for_goal`, and a goal that they have none for is refused in one sentence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from bestgroup.errors import InvalidInput
from bestgroup.problem.arrays import Bools, Floats

T = TypeVar("T")


class Goal(ABC):
    """A question about groups."""

    kind: ClassVar[str]  # its name in files
    entries: ClassVar[frozenset[str]]  # of a file or a request, besides the kind
    by_dim: ClassVar[str]  # the attribute with a number for each dim
    paper_algorithm: ClassVar[str]
    accepts_each: ClassVar[bool]  # a group is in or out by itself, before a run ends
    answers_one: ClassVar[bool]  # the answer is one group
    slack_by_dim: ClassVar[bool]  # epsilon may differ between dims
    by_directions: ClassVar[bool] = False  # judged by differences of worths for several weights
    maps: ClassVar[bool] = False  # the answer says, too, for which weights a group is best
    example_groups: ClassVar[int] = 1  # the least number that the example may be asked about
    question: ClassVar[str]
    certain: ClassVar[str]  # the groups that are in, if everything is known

    epsilon: float | tuple[float, ...]

    @property
    def spares_groups(self) -> bool:
        """Whether a run may end with groups that need no decision."""
        return False

    @abstractmethod
    def epsilons(self, dims: int) -> Floats:
        """Return epsilon for each dim, [D]."""

    @abstractmethod
    def weight_vector(self, dims: int) -> Floats:
        """Return the weights, [D]: ones if it has none."""

    @abstractmethod
    def worth_weights(self, dims: int) -> Floats | None:
        """Return the weights of the one number that groups are compared by; None: dim by dim."""

    def check_groups(self, groups: int) -> None:  # noqa: B027, most goals take any number
        """Raise InvalidInput if so many groups are too few for the question."""

    def for_arms(self) -> Goal:
        """Return what is asked of the arms of one group among themselves."""
        return self

    @abstractmethod
    def optimal(self, efficiency: Floats) -> Bools:
        """Return which groups are optimal if efficiencies are [N, D]."""

    def guessed(self, efficiency: Floats, inside: Bools) -> Bools | None:
        """Return the answer if efficiencies were [N, D], with the groups that are in already.

        None: groups are decided one by one.
        """
        return self.optimal(efficiency) | inside

    @abstractmethod
    def against(self, low: Floats, high: Floats) -> tuple[Bools, Bools]:
        """Return which groups bounds [N, D] prove to be no right answer, and which must not be out."""

    @abstractmethod
    def good(self, efficiency: Floats, rounding: Floats) -> Bools:
        """Return which groups may be in; what rounding is worth in a dim, [D], is forgiven."""

    @abstractmethod
    def needed(self, efficiency: Floats) -> Bools:
        """Return which groups must not be out."""

    @abstractmethod
    def is_right(self, chosen: Bools, efficiency: Floats, rounding: Floats) -> bool:
        """Return whether an answer is right in the (epsilon, delta)-PAC sense of the paper."""

    @abstractmethod
    def endless(self, efficiency: Floats, names: Sequence[str]) -> str | None:
        """Return why no correct algorithm can stop, or None."""

    @abstractmethod
    def words(self, dims: Sequence[str]) -> str:
        """Return the question in words, with the names of the dims."""

    @abstractmethod
    def decided_words(self) -> str:
        """Return what holds of groups that are in and out, if decisions are right."""

    @abstractmethod
    def answer_words(self) -> str:
        """Return what holds of an answer, if it is right."""

    @abstractmethod
    def inside_words(self) -> str:
        """Return what a group is that is in, in a few words."""

    @abstractmethod
    def headline(self, groups: str, count: int) -> str:
        """Return the final answer, groups already listed, in one sentence."""

    def terms(self) -> dict[str, tuple[float, ...]]:
        """Return the numbers besides epsilon, under the names that a reader knows them by."""
        return {}

    @abstractmethod
    def of(self, dims: Sequence[str]) -> Goal:
        """Return the goal with its numbers in the order of these dims."""

    @abstractmethod
    def turned(self, order: Sequence[int]) -> Goal:
        """Return the goal for the same dims in another order."""

    @abstractmethod
    def with_epsilon(self, epsilon: Any) -> Goal:
        """Return the same question with another slack."""

    @abstractmethod
    def spelled_out(self, dims: int) -> Goal:
        """Return the same question with one number for each dim wherever that is possible."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the goal as plain JSON; `goal_from_dict` reads it back."""

    @classmethod
    @abstractmethod
    def read(cls, given: Mapping[str, Any], dims: Sequence[str] | None) -> Goal:
        """Return the goal of a table whose entries are known; a refusal begins with the entry."""

    @classmethod
    def example(cls, dims: int) -> Goal | None:
        """Return a goal that groups which lie well apart decide soon; None: not in contract suites.

        It is asked about `example_groups` groups or more.
        """
        return None


def for_goal(goal: Goal, known: Mapping[type[Goal], T], what: str) -> T:
    """Return what there is for the class of a goal; refuses a goal that there is nothing for."""
    for kind in type(goal).__mro__:
        if kind in known:
            return known[kind]
    raise InvalidInput(f"there is no {what} for the goal {type(goal).__name__}")
