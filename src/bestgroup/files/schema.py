"""The tables of a problem file: which keys there are, and what kind of value each holds.

`read_tables` reads a TOML file into `Tables`. What a problem must be is checked in `problem`, by the
same functions for Python, files and HTTP; `parts` says at which key.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError

from bestgroup.errors import InvalidInput
from bestgroup.files.toml_limits import MOST_BYTES, check_toml
from bestgroup.problem.problem import groups_of_one

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def key_of(parts: Iterable[str | int]) -> str:
    """Return where a value stands in the file, written as TOML writes keys.

    >>> key_of(["groups", "bundle A", 0])
    'groups."bundle A"[0]'
    """
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if _BARE.fullmatch(part) else json.dumps(part, ensure_ascii=False)
            text += f".{name}" if text else name
    return text


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"must be a number; got {_short(value)}")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise InvalidInput(f"must be a finite number; got {_short(value)}")
    return result


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"must be a text that is not empty; got {_short(value)}")
    return value


def _by_dim(value: Any) -> float | list[float] | dict[str, float]:
    """Return one number, a list in the order of the dims, or a table by their names."""
    if isinstance(value, list):
        return [_inside(f"entry {k}", _number, entry) for k, entry in enumerate(value, 1)]
    if isinstance(value, dict):
        return {
            name: _inside(f"the entry of {name!r}", _number, entry) for name, entry in value.items()
        }
    if isinstance(value, bool | str) or not isinstance(value, int | float):
        raise InvalidInput(
            f"must be a number, a list of numbers or a table by dim; got {_short(value)}"
        )
    return _number(value)


def _weights(value: Any) -> Any:
    """Return weights by dim, or, for a map, a list of vertices, each by dim."""
    if isinstance(value, list) and any(isinstance(entry, list | dict) for entry in value):
        return [_inside(f"vertex {k}", _by_dim, entry) for k, entry in enumerate(value, 1)]
    return _by_dim(value)


def _inside(part: str, check: Any, value: Any) -> Any:
    """Return check(value); a refusal says in which part."""
    try:
        return check(value)
    except InvalidInput as error:
        raise InvalidInput(f"{part} {error}") from None


def _matrix(value: Any) -> list[list[float]]:
    if not isinstance(value, list) or not value:
        raise InvalidInput(f"must be a list of rows of numbers; got {_short(value)}")
    return [_inside(f"row {k}", _row, row) for k, row in enumerate(value, 1)]


def _row(value: Any) -> list[float]:
    if not isinstance(value, list) or not value:
        raise InvalidInput(f"must be a list of numbers; got {_short(value)}")
    return [_number(entry) for entry in value]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Number = Annotated[float, PlainValidator(_number)]
Text = Annotated[str, PlainValidator(_text)]
ByDim = Annotated[float | list[float] | dict[str, float], PlainValidator(_by_dim)]
Weights = Annotated[Any, PlainValidator(_weights)]
Matrix = Annotated[list[list[float]], PlainValidator(_matrix)]


class GoalTable(_Table):
    """The question."""

    kind: Literal["pareto", "best", "top", "map"]
    epsilon: ByDim = 0.0
    weights: Weights | None = None
    m: int | None = None
    share: Number | None = None


class NoiseTable(_Table):
    """What may be assumed of the noise."""

    kind: Text
    scale: ByDim | None = None
    low: ByDim | None = None
    high: ByDim | None = None
    difference: ByDim | None = None
    method: Text | None = None
    dependence: Text = "arbitrary"
    arms: Text | None = None


class ItemsTable(_Table):
    """The items that all arms are scored on."""

    count: int | None = None
    target: Text | None = None
    names: list[Text] | None = None
    file: Text | None = None  # a text file with a name a line
    clusters: list[str] | None = None
    repeats: int = 1
    floor: ByDim | None = None
    largest: int | None = None


class LawTable(_Table):
    """How simulation draws rewards."""

    kind: Literal["normal", "fully-dependent", "bernoulli", "beta"]
    scale: ByDim | None = None
    cov: Matrix | None = None


class ColumnsTable(_Table):
    """What the columns of tables of observations are called."""

    group: Text | None = None
    arm: Text | None = None
    item: Text | None = None
    ignore: list[str] = []


class EvaluateTable(_Table):
    """Who measures an arm."""

    python: Text | None = None
    command: Text | None = None


def _noise(value: Any) -> NoiseTable | dict[str, NoiseTable]:
    """Return one table, or one for each dim: without a kind of its own it is the latter."""
    if not isinstance(value, dict) or "kind" in value or not value:
        return NoiseTable.model_validate(value)
    if not all(isinstance(entry, dict) for entry in value.values()):
        return NoiseTable.model_validate(value)
    return {name: NoiseTable.model_validate(entry) for name, entry in value.items()}


def _law(value: Any) -> LawTable | dict[str, LawTable]:
    """Return one table, or one for each dim, as for the noise."""
    if not isinstance(value, dict) or "kind" in value or not value:
        return LawTable.model_validate(value)
    if not all(isinstance(entry, dict) for entry in value.values()):
        return LawTable.model_validate(value)
    return {name: LawTable.model_validate(entry) for name, entry in value.items()}


class Tables(_Table):
    """A whole problem file."""

    name: Text | None = None
    delta: Any = 0.01
    algorithm: Text = "auto"
    reserve: int = 0  # arms that may join a study later
    options: dict[str, Any] = {}
    goal: GoalTable
    dims: dict[str, Any]
    worth: Any = "best"
    require: dict[str, Any] = {}
    noise: Annotated[NoiseTable | dict[str, NoiseTable], PlainValidator(_noise)] | None = None
    groups: dict[str, Any]
    cost: dict[str, Any] = {}
    items: ItemsTable | None = None
    table: ColumnsTable | None = None
    evaluate: EvaluateTable | None = None
    law: Annotated[LawTable | dict[str, LawTable], PlainValidator(_law)] | None = None
    means: dict[str, Matrix] | None = None


_TABLES = {
    "goal": GoalTable,
    "noise": NoiseTable,
    "law": LawTable,
    "items": ItemsTable,
    "table": ColumnsTable,
    "evaluate": EvaluateTable,
}


def read_tables(path: Path) -> Tables:
    """Return the tables of a file; InvalidInput without the file's name if it cannot be used."""
    data = _parse(path)
    if "arms" in data and "groups" not in data:  # every arm is a group of its own
        data["groups"] = groups_of_one(data.pop("arms"))
    try:
        return Tables.model_validate(data)
    except ValidationError as error:
        where, sentence = _worst(error, Tables)
        raise InvalidInput(f"{key_of(where)}: {sentence}") from None


def _parse(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InvalidInput(f"a problem file may have up to {MOST_BYTES // 2**20} MB")
        text = path.read_bytes().decode()
        check_toml(text)
        return tomllib.loads(text)
    except FileNotFoundError:
        raise InvalidInput("there is no such file") from None
    except IsADirectoryError:
        raise InvalidInput("this is a folder; give a problem file (TOML)") from None
    except OSError as error:
        raise InvalidInput(f"the file cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidInput("this is not a text file in UTF-8; give a problem file (TOML)") from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"this is not valid TOML: {error}") from None
    except InvalidInput:
        raise
    except ValueError:  # of the language, for numbers of thousands of digits
        raise InvalidInput("this is not valid TOML: an integer has too many digits") from None
    except RecursionError:
        raise InvalidInput("this is not a problem file: lists are nested too deeply") from None


def _worst(error: ValidationError, model: type[BaseModel]) -> tuple[tuple[str | int, ...], str]:
    """Return the place and the sentence of the mistake that explains most.

    A wrong value comes first, then a key that is unknown, then one that is missing: where a key is
    misspelt, the last two come together, and the first of them shows why.
    """
    rank = {"extra_forbidden": 1, "missing": 2}
    first = min(error.errors(), key=lambda item: rank.get(item["type"], 0))
    where = first["loc"]
    return where, _sentence(first, where, model)


def _sentence(item: Any, where: tuple[str | int, ...], model: type[BaseModel]) -> str:
    kind, got = item["type"], item["input"]
    if kind == "value_error":
        return str(item["ctx"]["error"])
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        owner = _TABLES.get(str(where[0]), model) if len(where) > 1 else model
        return f"is not a key here; those are {', '.join(owner.model_fields)}"
    if kind == "literal_error":
        return f"must be {item['ctx']['expected']}; got {_short(got)}"
    if kind in ("dict_type", "model_type", "model_attributes_type"):
        return f"must be a table; got {_short(got)}"
    return f"{item['msg'][0].lower()}{item['msg'][1:]}; got {_short(got)}"
