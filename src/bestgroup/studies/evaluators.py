"""Evaluators: the user's function or command that measures an arm once.

A function is called as `evaluate(group, arm, seed)`, or `evaluate(group, arm)` if it takes two
arguments; where arms share items as `evaluate(group, arm, item)`, or `evaluate(group, arm, item, seed)`.
It may be `async`. It returns one number, a sequence with one for each dim, or a dict by
dim. A command is a line with the placeholders {group}, {arm}, {seed} and {item} (`commands`);
it prints numbers or JSON on its last line. `evaluate_many(group, arm, items)` or (group, arm, items,
seeds) scores an arm on several items in one call and returns a row for each.

With a timeout a plain function runs in a process of its own, which is ended when the time is up:
nothing else stops a function that hangs.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bestgroup.errors import EvaluationFailed, InvalidInput
from bestgroup.problem.arrays import Floats
from bestgroup.problem.problem import Problem
from bestgroup.studies.commands import Command, end_group, split_command
from bestgroup.studies.ticket import pull_seed


class Pull(NamedTuple):
    """One evaluation: its seed and, where arms share items, the item."""

    seed: int
    item: str | None = None


class Evaluator:
    """Calls a function or command with a timeout; safe to use from several threads."""

    def __init__(
        self,
        evaluate: Callable[..., Any] | str,
        timeout: float | None = None,
        *,
        items: bool = False,
        many: bool = False,
    ) -> None:
        self.items, self.many = items, many
        if timeout is not None and not 0 < timeout < float("inf"):
            raise InvalidInput(f"timeout must be a positive number of seconds; got {timeout!r}")
        self._timeout = timeout
        self._children = threading.local()
        self._all: list[_Child] = []
        if isinstance(evaluate, str):
            self._line = Command(evaluate)
            self._call = self._command
            return
        if not callable(evaluate):
            raise InvalidInput(f"evaluate must be a function or a command; got {evaluate!r}")
        self._function = evaluate
        self._wants_seed = takes_seed(evaluate, items or many)
        if inspect.iscoroutinefunction(evaluate):
            self._call = self._coroutine
        else:
            self._call = self._plain if timeout is None else self._in_child

    def __call__(self, group: str, arm: str, seed: Any, item: Any = None) -> Any:
        """Return what the evaluator gives; EvaluationFailed if it raises, hangs or fails to start."""
        return self._call(group, arm, seed, item)

    def on_items(self) -> None:
        """Call a function with the item from now on: arms are scored on the same ones."""
        self.items = True
        if hasattr(self, "_function"):
            self._wants_seed = takes_seed(self._function, True)

    def check(self, problem: Problem) -> None:
        """Raise InvalidInput if a command would take a name for an option: before anything is run."""
        if not hasattr(self, "_line"):
            return
        self._line.check("group", problem.groups)
        self._line.check("arm", (arm for arms in problem.arms for arm in arms))

    def close(self) -> None:
        """End commands that still run, and the processes of functions with a timeout."""
        if hasattr(self, "_line"):
            self._line.close()
        for child in self._all:
            child.end()

    def _arguments(self, group: str, arm: str, seed: Any, item: Any) -> tuple[Any, ...]:
        place = (group, arm, item) if self.items or self.many else (group, arm)
        return (*place, seed) if self._wants_seed else place

    def _plain(self, group: str, arm: str, seed: Any, item: Any) -> Any:
        try:
            return self._function(*self._arguments(group, arm, seed, item))
        except Exception as error:
            raise EvaluationFailed(_words(error)) from error

    def _coroutine(self, group: str, arm: str, seed: Any, item: Any) -> Any:
        async def run() -> Any:
            call = self._function(*self._arguments(group, arm, seed, item))
            return await asyncio.wait_for(call, self._timeout)

        try:
            return asyncio.run(run())
        except TimeoutError:
            raise EvaluationFailed(f"it took longer than {self._timeout:g} s") from None
        except Exception as error:
            raise EvaluationFailed(_words(error)) from error

    def _in_child(self, group: str, arm: str, seed: Any, item: Any) -> Any:
        child = getattr(self._children, "own", None)
        if child is None or not child.alive:
            child = self._children.own = _Child(self._function)
            self._all.append(child)
        assert self._timeout is not None
        return child.call(self._arguments(group, arm, seed, item), self._timeout)

    def _command(self, group: str, arm: str, seed: Any, item: Any) -> Any:
        values = {"group": group, "arm": arm, "seed": seed, "item": item}
        return read_output(self._line.run(values, self._timeout))


class _Child:
    """A process that calls one function again and again."""

    def __init__(self, function: Callable[..., Any]) -> None:
        import multiprocessing

        import cloudpickle

        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        code = cloudpickle.dumps(function)
        self._process = context.Process(target=_serve, args=(other, code, sys.path), daemon=True)
        self._process.start()
        other.close()
        self._ready = False

    @property
    def alive(self) -> bool:
        """Whether the process can still be called."""
        return self._process.is_alive()

    def call(self, arguments: tuple[Any, ...], timeout: float) -> Any:
        """Return the function's value; ends the process if it takes too long."""
        try:
            if not self._ready:  # importing the user's modules is not part of the time
                if not self._pipe.poll(120):
                    raise EvaluationFailed("its process does not start")
                _unwrap(self._pipe.recv())
                self._ready = True
            self._pipe.send(arguments)
            if not self._pipe.poll(timeout):
                self.end()
                raise EvaluationFailed(f"it took longer than {timeout:g} s")
            return _unwrap(self._pipe.recv())
        except (EOFError, OSError):
            self.end()
            raise EvaluationFailed("its process ended without an answer") from None

    def end(self) -> None:
        """End the process, whatever it does."""
        if self._process.is_alive():
            if self._process.pid is not None:
                end_group(self._process.pid)  # what the function has started, too
            self._process.kill()
        self._process.join(5)
        self._pipe.close()


def _serve(pipe: Any, code: bytes, path: list[str]) -> None:
    """Answer calls until the other side is gone."""
    import cloudpickle

    os.setsid()  # leads a group, so that it can be ended with all that it starts
    sys.path[:] = path
    try:
        function = cloudpickle.loads(code)
        pipe.send((True, None))
    except Exception as error:
        pipe.send((False, _words(error)))
        return
    while True:
        try:
            arguments = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            pipe.send((True, function(*arguments)))
        except Exception as error:
            pipe.send((False, _words(error)))


def _unwrap(reply: tuple[bool, Any]) -> Any:
    good, value = reply
    if not good:
        raise EvaluationFailed(value)
    return value


def load_evaluator(given: Mapping[str, str]) -> Callable[..., Any] | str:
    """Return the function of {"python": "module:function"}, or the line of {"command": ...}."""
    if given.get("command"):
        split_command(given["command"])
        return given["command"]
    if not given.get("python"):
        raise InvalidInput(
            "there is no evaluator: give python = 'module:function' or command = '...'"
        )
    module, _, name = given["python"].partition(":")
    if not module or not name:
        raise InvalidInput(
            f"an evaluator must be given as 'module:function'; got {given['python']!r}"
        )
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
    except Exception as error:
        raise InvalidInput(
            f"the evaluator's module {module!r} cannot be imported: {error}"
        ) from None
    function = getattr(found, name, None)
    if not callable(function):
        raise InvalidInput(f"the module {module!r} has no function {name!r}")
    return function


def takes_seed(function: Callable[..., Any], items: bool = False) -> bool:
    """Return whether a function takes a third argument; where arms share items, a fourth."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    own = ("group", "arm", "item") if items else ("group", "arm")
    rest = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    if len(places) < len(own) and not rest:
        short = ", ".join(own)
        raise InvalidInput(f"an evaluator must take ({short}) or ({short}, seed)")
    return len(places) > len(own) or rest


def measure(
    evaluate: Callable[..., Any], problem: Problem, group: str, arm: str, pulls: Sequence[Pull]
) -> list[Floats]:
    """Return a row of values for each pull of an arm, by one call for all or by one for each.

    Repeats on an item are averaged. An item that the arm cannot do has the floor's values, if a
    floor is declared.
    """
    if getattr(evaluate, "many", False):
        items, seeds = [pull.item for pull in pulls], [pull.seed for pull in pulls]
        found = evaluate(group, arm, seeds, items)
        if not hasattr(found, "__len__") or len(found) != len(pulls):
            raise EvaluationFailed(f"it must give a row for each of the {len(pulls)} items")
        return [row_of(row, problem) for row in found]
    repeats = 1 if problem.items is None else problem.items.repeats
    rows = []
    for pull in pulls:
        again = [pull.seed, *(pull_seed(pull.seed, -2, -2, k) for k in range(1, repeats))]
        shared = () if pull.item is None else (pull.item,)
        own = [row_of(evaluate(group, arm, seed, *shared), problem) for seed in again]
        rows.append(own[0] if repeats == 1 else np.mean(own, axis=0))
    return rows


def floor_rows(problem: Problem, count: int) -> list[Floats] | None:
    """Return what counts for items that an arm cannot do; None if no floor is declared."""
    items = problem.items
    if items is None or items.floor is None:
        return None
    row = np.array(items.floor_values([dim.name for dim in problem.dims]))
    return [problem.check_values(row)[0]] * count


def read_output(text: str) -> Any:
    r"""Return the numbers or the JSON on the last line of a command's output.

    >>> read_output("warming up\n0.5, 12"), read_output('{"profit": 0.5}')
    ([0.5, 12.0], {'profit': 0.5})
    """
    lines = text.strip().splitlines()
    if not lines:
        raise EvaluationFailed("it printed nothing")
    for candidate in (text.strip(), lines[-1]):
        try:
            return json.loads(candidate)
        except ValueError:
            continue
    try:
        return [float(part) for part in lines[-1].replace(",", " ").split()]
    except ValueError:
        raise EvaluationFailed(
            f"its last line is neither numbers nor JSON: {lines[-1][:80]!r}"
        ) from None


def row_of(value: Any, problem: Problem) -> Floats:
    """Return what an evaluator gave as a row of numbers, one for each dim, in their order.

    EvaluationFailed for the wrong number of values, NaN and the like; InvalidInput if a value lies
    outside the bounds that the proof rests on.
    """
    names = [dim.name for dim in problem.dims]
    if isinstance(value, Mapping):
        missing = [name for name in names if name not in value]
        if missing:
            raise EvaluationFailed(f"it gave no value for the dim {missing[0]!r}")
        value = [value[name] for name in names]
    if isinstance(value, bool | str) or value is None:
        raise EvaluationFailed(f"it gave {value!r} instead of numbers")
    try:
        row = np.atleast_1d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        raise EvaluationFailed(f"it gave {_short(value)} instead of numbers") from None
    if row.shape != (len(names),):
        got = row.size if row.ndim == 1 else f"shape {list(row.shape)}"
        raise EvaluationFailed(f"it must give {len(names)} numbers ({', '.join(names)}); got {got}")
    if not np.isfinite(row).all():
        bad = names[int(np.flatnonzero(~np.isfinite(row))[0])]
        raise EvaluationFailed(f"{bad} must be a finite number; got {_short(value)}")
    return problem.check_values(row)[0]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _words(error: BaseException) -> str:
    text = " ".join(str(error).split())[:300]
    return f"it raised {type(error).__name__}{': ' + text if text else ''}"
