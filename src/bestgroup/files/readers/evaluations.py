"""Evaluations of language models: inspect_ai, lm-evaluation-harness, promptfoo."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bestgroup.errors import InvalidInput
from bestgroup.files.readers.observations import ARM, GROUP, ITEM, Observations, Row

Documents = Sequence[tuple[Path, dict[str, Any]]]
# What inspect's scorers write for correct, incorrect, partial and no answer, as its metrics read it.
LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


def is_inspect(document: dict[str, Any]) -> bool:
    """Return whether a document is a log of inspect_ai in JSON."""
    return {"eval", "plan", "status"} <= document.keys()


def inspect_logs(paths: Sequence[Path], source: str) -> Observations:
    """Return the observations of `.eval` files, which inspect_ai itself must read."""
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        raise InvalidInput(
            f"{source}: .eval files need inspect_ai: pip install 'bestgroup[inspect]'"
        ) from None
    logs = [(path, read_eval_log(str(path)).model_dump(mode="json")) for path in paths]
    return inspect_documents(logs, source)


def inspect_documents(documents: Documents, source: str) -> Observations:
    """Return a row for each sample: model, task with its arguments, sample, every score.

    Epochs of a sample are averaged, as inspect does; each sample must have as many as the log says.
    """
    rows: list[Row] = []
    for path, log in documents:
        if log["status"] != "success":
            raise InvalidInput(
                f"{path}: this run ended with {log['status']!r}; it must be complete"
            )
        head = log["eval"]
        options = ", ".join(f"{k}={v}" for k, v in (head.get("task_args") or {}).items())
        arm = f"{head['task']}({options})" if options else head["task"]
        epochs = (head.get("config") or {}).get("epochs") or 1
        samples: dict[Any, list[dict[str, float]]] = {}
        for sample in log.get("samples") or []:
            samples.setdefault(sample["id"], []).append(dict(_scores(sample, path)))
        for name, found in samples.items():
            if len(found) != epochs:
                raise InvalidInput(
                    f"{path}: sample {name!r} has {len(found)} epochs of {epochs}; the run must be complete"
                )
            means = {dim: sum(s[dim] for s in found) / epochs for dim in found[0]}
            rows.append({GROUP: head["model"], ARM: arm, ITEM: name, **means})
    return Observations(rows, {}, source)


def _scores(sample: Mapping[str, Any], path: Path) -> Iterator[tuple[str, float]]:
    """Yield the scores of a sample; a scorer that gives several is a dim for each."""
    if not sample.get("scores"):
        raise InvalidInput(f"{path}: sample {sample['id']!r} has no score; it must be complete")
    for scorer, score in sample["scores"].items():
        value = score["value"]
        parts = {f"{scorer}.{k}": v for k, v in value.items()} if isinstance(value, dict) else None
        for dim, part in (parts or {scorer: value}).items():
            number = LETTERS.get(part, part) if isinstance(part, str) else part
            try:
                yield dim, float(number)
            except (TypeError, ValueError):
                raise InvalidInput(
                    f"{path}: sample {sample['id']!r}: the score {dim} must be a number; got {part!r}"
                ) from None


def is_samples(path: Path) -> bool:
    """Return whether a file is named as lm-evaluation-harness names its samples."""
    return path.name.startswith("samples_") and path.suffix == ".jsonl"


def lm_eval_samples(paths: Sequence[Path], source: str) -> Observations:
    """Return a row for each document: the model is the folder, the task and its filter the arm.

    The metrics are those that a sample names; older files name none, there every number counts.
    """
    rows: list[Row] = []
    for path in paths:
        # samples_TASK_DATE.jsonl; the date holds no underscore
        task = path.stem.removeprefix("samples_").rpartition("_")[0] or path.stem
        for sample in _lines(path):
            filtered = sample.get("filter")
            arm = task if filtered in (None, "none") else f"{task} ({filtered})"
            names = sample.get("metrics") or [
                k for k, v in sample.items() if k != "doc_id" and isinstance(v, int | float)
            ]
            values = {name: float(sample[name]) for name in names}
            rows.append({GROUP: path.parent.name, ARM: arm, ITEM: sample["doc_id"], **values})
    return Observations(rows, {}, source)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise InvalidInput(f"{path}: line {number} is not JSON: {error}") from None


def is_promptfoo(document: dict[str, Any]) -> bool:
    """Return whether a document is what `promptfoo eval --output FILE.json` writes."""
    inner = document.get("results")
    return isinstance(inner, dict) and isinstance(inner.get("results"), list)


def promptfoo_results(documents: Documents, source: str) -> Observations:
    """Return a row for each test: provider, prompt, test, score, named scores, latency and cost.

    A named score that some tests lack is left out; so is the cost where no provider tells it.
    """
    rows: list[Row] = []
    for _, document in documents:
        for result in document["results"]["results"]:
            provider, prompt = result["provider"], result["prompt"]
            rows.append(
                {
                    GROUP: provider.get("label") or provider["id"],
                    ARM: prompt.get("label") or prompt["raw"],
                    ITEM: result["testIdx"],
                    "score": float(result["score"]),
                    **{k: float(v) for k, v in (result.get("namedScores") or {}).items()},
                    "latency_ms": float(result.get("latencyMs") or 0.0),
                    "cost": float(result.get("cost") or 0.0),
                }
            )
    always = set.intersection(*(set(row) for row in rows)) if rows else set()
    if not any(row["cost"] for row in rows):
        always.discard("cost")
    kept = [{k: v for k, v in row.items() if k in always} for row in rows]
    return Observations(kept, {"latency_ms": "min", "cost": "min"}, source)
