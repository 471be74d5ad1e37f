"""The naive oracle against the recorded traces: every key of every file, round by round."""

from __future__ import annotations

import importlib.util
import math
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reference import definitions, naive

FOLDER = Path(__file__).parents[1] / "fixtures"
FILES = sorted(FOLDER.glob("*.npz"))
WRONG = "@rhat_all"


def runs_in(path: Path) -> list[str]:
    with np.load(path) as data:
        return sorted({key.split("/")[0] for key in data.files if "/" in key})


# Of each file half of the runs, and of each run half of the files; the others under verify.
RUNS = [
    pytest.param(
        path, run, id=f"{path.stem}-{run}", marks=[pytest.mark.verify] if (k + q) % 2 else []
    )
    for k, path in enumerate(FILES)
    for q, run in enumerate(run for run in runs_in(path) if not run.startswith("TEL"))
]


@lru_cache(maxsize=1)
def load(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as data:
        return {key: data[key] for key in data.files}


@lru_cache(maxsize=1)
def tape_of(path: Path) -> Any:
    return load(path)["rewards"].astype(float).tolist()


def setting_of(data: dict[str, np.ndarray], epsilon: float) -> naive.Setting:
    table = data["beta_table"].tolist() if "beta_table" in data else None
    return naive.setting(
        data["ksizes"].tolist(),
        data["means"].shape[2],
        delta=float(data["delta"]),
        epsilon=epsilon,
        beta=(lambda r: table[r - 1]) if table else None,
    )


def oracle(path: Path, run: str, *, all_arms: bool) -> naive.Outcome:
    """The run that a name such as TE, EECB_w0_early or UniS_corrected stands for."""
    data, tape = load(path), tape_of(path)
    eps = float(data["eps"])
    kind, *words = run.removesuffix(WRONG).split("_")
    if kind == "UniS":
        corrected = words == ["corrected"]
        s = setting_of(data, eps)
        return naive.replay(naive.uniform_sampling, s, tape, corrected=corrected)
    if kind == "EECB":
        return naive.replay(
            naive.eecb,
            setting_of(data, 0.0),
            tape,
            weights=data["weights"][int(words[0][1:])].tolist(),
            early_exit=words[1:] == ["early"],
            all_arms=all_arms,
        )
    return naive.replay(
        naive.triple_elimination,
        setting_of(data, eps),
        tape,
        dimension_phase=kind == "TE",
        arm_phase=kind != "GE",
        all_arms=all_arms,
    )


def counts(end: naive.Outcome, shape: tuple[int, ...]) -> list[list[int]]:
    table = np.zeros(shape, int)
    for arm, count in end.pulls.items():
        table[arm] = count
    return table.tolist()


def rows_of(recorded: np.ndarray) -> list[Any]:
    """A trace as one entry a round: a set of indices for masks, plain numbers otherwise."""
    if recorded.dtype != bool:
        return recorded.tolist()
    rows: list[set[Any]] = [set() for _ in recorded]
    for q, *index in np.argwhere(recorded).tolist():
        rows[q].add(index[0] if len(index) == 1 else tuple(index))
    return rows


def differing(end: naive.Outcome, recorded: dict[str, np.ndarray]) -> list[str]:
    """The keys on which the outcome and the record differ; a key it does not know is an error."""
    ours: dict[str, Any] = {
        "P": sorted(end.answer),
        "G": sorted(end.answer),
        "rounds": len(end.log),
        "tau": sum(end.pulls.values()),
        "Rhat": end.efficiency,
        "left_round": end.left_round,
        "resolved_round": end.resolved_round,
        "n": end.clock,
        "r0": end.repeats,
        "margin": end.margin,
    }
    found = []
    for key, value in recorded.items():
        if key == "pulls":
            same = counts(end, value.shape) == value.tolist()
        elif key.startswith("trace_"):
            same = [row[key.removeprefix("trace_")] for row in end.log] == rows_of(value)
        else:
            same = ours[key] == value.tolist()
        if not same:
            found.append(key)
    return found


def record(path: Path, run: str) -> dict[str, np.ndarray]:
    prefix = run + "/"
    return {k.removeprefix(prefix): v for k, v in load(path).items() if k.startswith(prefix)}


def test_all_files_are_here():
    numbers = [*range(1, 10), 11, 12, 13, 16, 17]
    assert [int(path.name[:2]) for path in FILES] == numbers


@pytest.mark.parametrize(("path", "run"), RUNS)
def test_trace(path: Path, run: str):
    recorded = record(path, run)
    assert recorded
    end = oracle(path, run, all_arms=run.endswith(WRONG))
    assert differing(end, recorded) == []
    picks = load(path).get(run.replace("TE", "TEL") + "/pick")
    if picks is not None:  # TEL is TE and one more line, tested on its own below
        weights = load(path)["weights"].tolist()
        assert [naive.heaviest(end, w) for w in weights] == picks.tolist()


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("13_noisy_big_eps", "TE"),
        ("13_noisy_big_eps", "AGE"),
        ("17_eecb_active_arms", "EECB_w0"),
        ("17_eecb_active_arms", "EECB_w0_early"),
    ],
)
def test_efficiency_over_active_arms_is_not_over_all_arms(name: str, run: str):
    path = FOLDER / f"{name}.npz"
    found = differing(oracle(path, run, all_arms=False), record(path, run + WRONG))
    assert {"rounds", "trace_Rhat", "tau"} <= set(found)
    assert {"P", "G"} & set(found)


def test_ge_keeps_all_arms_active_so_both_readings_agree():
    path = FOLDER / "13_noisy_big_eps.npz"
    assert differing(oracle(path, "GE", all_arms=False), record(path, "GE" + WRONG)) == []


@pytest.mark.parametrize("name", ["01_basic", "04_N1", "09_empty_dims_active_group"])
def test_tel(name: str):
    path = FOLDER / f"{name}.npz"
    data = load(path)
    for weights, pick in zip(data["weights"].tolist(), data["TEL/pick"].tolist(), strict=True):
        own = {"weights": weights, "pareto_epsilon": float(data["eps"])}
        end = naive.replay(naive.tel, setting_of(data, 0.0), tape_of(path), **own)
        assert end.answer == {pick}
        assert sum(end.pulls.values()) == data["TE/tau"]


@pytest.mark.parametrize("run", ["UniS", "UniS_corrected"])
def test_unis_is_missing_only_where_the_tape_is_short(run: str):
    missing = [path for path in FILES if run not in runs_in(path) and load(path)["eps"] > 0]
    assert missing
    for path in missing:
        with pytest.raises(naive.TapeEnd):
            oracle(path, run, all_arms=False)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_definitions(path: Path):
    data = load(path)
    if "R" not in data:
        assert path.stem[:2] in ("16", "17")
        return
    sizes = data["ksizes"].tolist()
    means = [data["means"][i, :size].tolist() for i, size in enumerate(sizes)]
    R = definitions.efficiency(means)
    gaps = definitions.pareto_gaps(means, float(data["eps"]))
    assert data["R"].tolist() == R
    assert definitions.pareto(R) == set(np.flatnonzero(data["pareto"]).tolist())
    wide = definitions.pareto(R, float(data["eps"]))
    assert wide == set(np.flatnonzero(data["pareto_eps"]).tolist())
    assert gaps.group == data["group_gap"].tolist()
    assert gaps.arm == [data["arm_gap"][i, :size].tolist() for i, size in enumerate(sizes)]


def test_file_17_is_what_its_script_writes_and_holds_the_good_event():
    path = FOLDER / "17_eecb_active_arms.npz"
    spec = importlib.util.spec_from_file_location("make_17", FOLDER / "make_17.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    written, data = script.arrays(), load(path)
    assert written.keys() == data.keys()
    for key, value in written.items():
        np.testing.assert_array_equal(data[key], value, err_msg=key)
    for (i, j), running in script.RUNNING.items():
        for beta, mean in zip(data["beta_table"].tolist(), running, strict=True):
            errors = [abs(x - y) for x, y in zip(mean, data["means"][i, j], strict=True)]
            assert max(errors) < beta


@pytest.mark.parametrize(("r", "value"), [(1, 4 * 6 * 2 / 0.05), (7, 4 * 6 * 2 * 49 / 0.05)])
def test_beta_counts_all_arms_of_unequal_groups(r: int, value: float):
    s = naive.setting([1, 2, 3], 2, delta=0.05)
    assert s.beta(r) == pytest.approx(math.sqrt(2 * math.log(value) / r), rel=1e-15)
