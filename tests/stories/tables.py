"""Three tables as people have them: models by split, prompts by item, compressors with time and size."""

import bz2
import csv
import lzma
import time
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Story:
    """A table and how a person would call `init` on it."""

    name: str
    rows: list
    group: str
    arm: str
    minimise: tuple = ()
    watch: tuple = ()
    item: str | None = None
    larger: float = (
        3.0  # by which the suggested epsilon is made larger, so that the story ends soon
    )

    def write(self, folder):
        """Write the table and return its path."""
        path = Path(folder) / f"{self.name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(self.rows[0]))
            writer.writeheader()
            writer.writerows(self.rows)
        return path

    def options(self):
        """Return the options of `init`."""
        words = ["--group", self.group, "--arm", self.arm]
        words += [] if self.item is None else ["--item", self.item]
        for option, names in (("--min", self.minimise), ("--watch", self.watch)):
            for name in names:
                words += [option, name]
        return words


def models():
    """Return scikit-learn models by split: accuracy and Brier score of 12 splits each."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    x, y = load_breast_cancer(return_X_y=True)
    families = {
        "linear": {f"C={c}": LogisticRegression(C=c, max_iter=200) for c in (0.01, 1.0)},
        "neighbours": {f"k={k}": KNeighborsClassifier(k) for k in (1, 9)},
        "tree": {f"depth {d}": DecisionTreeClassifier(max_depth=d, random_state=0) for d in (1, 4)},
        "bayes": {"gauss": GaussianNB()},
    }
    rows = []
    for split in range(12):
        parts = train_test_split(x, y, test_size=0.3, random_state=split)
        for family, members in families.items():
            for setting, model in members.items():
                fitted = make_pipeline(StandardScaler(), model)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    fitted.fit(parts[0], parts[2])
                p = fitted.predict_proba(parts[1])[:, 1]
                rows.append(
                    {
                        "family": family,
                        "setting": setting,
                        "split": split,
                        "when": f"2026-05-{split + 1:02d}",
                        "accuracy": float(((p > 0.5) == parts[3]).mean()),
                        "brier": float(((p - parts[3]) ** 2).mean()),
                    }
                )
    return Story("models", rows, "family", "setting", minimise=("brier",), larger=15.0)


def prompts():
    """Return prompts by item: whether the answer was right, what it cost, how long it took."""
    rng = np.random.default_rng(20)
    skill = {("plain", "short"): 0.4, ("plain", "long"): 0.7, ("steps", "few"): 1.6}
    skill |= {("steps", "many"): 1.9, ("terse", "one"): 0.1}
    price = {"short": 1.0, "long": 2.0, "few": 4.0, "many": 7.0, "one": 0.6}
    rows = []
    for item in range(60):
        ease = rng.normal()
        for (family, prompt), level in skill.items():
            right = rng.random() < 1 / (1 + np.exp(-(level + ease)))
            rows.append(
                {
                    "prompt": prompt,
                    "family": family,
                    "id": f"q{item:03d}",
                    "correct": "True" if right else "False",
                    "cost": round(float(price[prompt] * rng.lognormal(0, 0.3)), 4),
                    "latency": round(float(rng.lognormal(0.5, 0.5)), 3),
                }
            )
    return Story("prompts", rows, "family", "prompt", ("cost",), ("latency",), item="id")


def compressors():
    """Return compressors on source files: milliseconds and the share of the size that is left."""
    kinds = {
        "zlib": {"1": lambda d: zlib.compress(d, 1), "6": lambda d: zlib.compress(d, 6)},
        "bz2": {"1": lambda d: bz2.compress(d, 1), "9": lambda d: bz2.compress(d, 9)},
        "lzma": {"0": lambda d: lzma.compress(d, preset=0)},
    }
    rows = []
    files = sorted(Path(csv.__file__).parent.glob("*.py"))[:40]
    for file in files:
        data = file.read_bytes()[:40_000]
        for codec, levels in kinds.items():
            for level, run in levels.items():
                begun = time.perf_counter()
                size = len(run(data))
                spent = 1e3 * (time.perf_counter() - begun)
                left = size / max(len(data), 1)
                rows.append(
                    {"codec": codec, "level": level, "file": file.name, "ms": spent, "left": left}
                )
    return Story("compressors", rows, "codec", "level", minimise=("ms", "left"))


STORIES = {"models": models, "prompts": prompts, "compressors": compressors}
