"""`read`: observations from the file or folder that another tool wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bestgroup.errors import InvalidInput
from bestgroup.files.readers import benchmarks, evaluations
from bestgroup.files.readers.observations import Observations

KINDS = ("inspect", "lm-eval", "promptfoo", "pytest-benchmark", "hyperfine")


def read(path: str | Path, kind: str | None = None) -> Observations:
    """Return the observations in a file, or in all files of a folder, of another tool.

    `kind` is "inspect" (logs of inspect_ai: models are groups, tasks with their arguments arms,
    scorers dims, samples items), "lm-eval" (sample files of lm-evaluation-harness: models are
    groups, tasks and filters arms, metrics dims, documents items), "promptfoo" (results: providers
    are groups, prompts arms, tests items), "pytest-benchmark" or "hyperfine" (timings: groups or
    programs are groups, benchmarks or commands arms); by default the file shows it.
    """
    place = Path(path)
    if kind is not None and kind not in KINDS:
        raise InvalidInput(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    if not place.exists():
        raise InvalidInput(f"{place}: there is no such file or folder")
    files = sorted(f for f in place.rglob("*") if f.is_file()) if place.is_dir() else [place]
    if kind in (None, "inspect") and (logs := [f for f in files if f.suffix == ".eval"]):
        return evaluations.inspect_logs(logs, str(place))
    if kind in (None, "lm-eval") and (found := [f for f in files if evaluations.is_samples(f)]):
        return evaluations.lm_eval_samples(found, str(place))
    documents = [(f, _document(f)) for f in files if f.suffix == ".json"]
    for name in KINDS if kind is None else (kind,):
        mine = [(f, d) for f, d in documents if _LOOKS[name](d)]
        if mine:
            return _MAKES[name](mine, str(place))
    raise InvalidInput(
        f"{place}: this is not {'' if kind is None else f'a file of {kind}, '}"
        f"one of the files that can be read: {', '.join(KINDS)}"
    )


def _document(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path}: this JSON file cannot be read: {error}") from None
    return found if isinstance(found, dict) else {}


_LOOKS = {
    "inspect": evaluations.is_inspect,
    "lm-eval": lambda document: False,  # its samples are JSON lines, not a document
    "promptfoo": evaluations.is_promptfoo,
    "pytest-benchmark": benchmarks.is_pytest_benchmark,
    "hyperfine": benchmarks.is_hyperfine,
}
_MAKES = {
    "inspect": evaluations.inspect_documents,
    "promptfoo": evaluations.promptfoo_results,
    "pytest-benchmark": benchmarks.pytest_benchmarks,
    "hyperfine": benchmarks.hyperfine_results,
}
