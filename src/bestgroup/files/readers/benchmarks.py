"""Timings: JSON files of pytest-benchmark and hyperfine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bestgroup.errors import InvalidInput
from bestgroup.files.readers.observations import ARM, GROUP, Observations, Row

Documents = Sequence[tuple[Path, dict[str, Any]]]
SECONDS = "seconds"


def is_pytest_benchmark(document: dict[str, Any]) -> bool:
    """Return whether a document is what `pytest --benchmark-json` writes."""
    return isinstance(document.get("benchmarks"), list) and "machine_info" in document


def pytest_benchmarks(documents: Documents, source: str) -> Observations:
    """Return a row for each round of each benchmark; files without rounds are refused.

    A benchmark's group is its `group`, or else the function without its parameters.
    """
    rows: list[Row] = []
    for path, document in documents:
        for entry in document["benchmarks"]:
            times = entry.get("stats", {}).get("data")
            if not times:
                raise InvalidInput(
                    f"{path}: the single rounds are missing; run pytest with --benchmark-save-data"
                )
            group = entry.get("group") or entry["name"].partition("[")[0]
            rows += [{GROUP: group, ARM: entry["name"], SECONDS: float(t)} for t in times]
    return Observations(rows, {SECONDS: "min"}, source)


def is_hyperfine(document: dict[str, Any]) -> bool:
    """Return whether a document is what `hyperfine --export-json` writes."""
    results = document.get("results")
    return bool(isinstance(results, list) and results and "times" in results[0])


def hyperfine_results(documents: Documents, source: str) -> Observations:
    """Return a row for each run of each command; a command's group is its program.

    Runs that failed are refused: their times say nothing about the program.
    """
    rows: list[Row] = []
    for path, document in documents:
        for entry in document["results"]:
            command = entry["command"]
            if any(entry.get("exit_codes") or []):
                raise InvalidInput(
                    f"{path}: some runs of {command!r} failed; their times say nothing"
                )
            program = command.split()[0] if command.split() else command
            for seconds in entry["times"]:
                rows.append({GROUP: program, ARM: command, SECONDS: float(seconds)})
    return Observations(rows, {SECONDS: "min"}, source)
