"""What the pages of the documentation take for granted: files and names that a reader has already."""

import csv
import gzip
import json
import random
import stat
import sys
from pathlib import Path

import bestgroup as bg

ROOT = Path(__file__).parents[1]
GROUPS = {"bundle A": ["a1", "a2"], "bundle B": ["b1"]}
MEANS = {"a1": (0.8, 0.2), "a2": (0.5, 0.4), "b1": (0.3, 0.6)}
PROBLEM = """
name = "{name}"
delta = 0.05
[goal]
kind = "pareto"
epsilon = 0.2
[dims]
profit = "max"
returns = "min"
latency = "watch"
[noise]
kind = "subgaussian"
scale = 0.3
[groups]
"bundle A" = ["a1", "a2"]
"bundle B" = ["b1"]
[evaluate]
python = "measure:evaluate"
"""


def evaluate(group, arm, seed=0):
    """Return profit, returns and latency of one pull."""
    draw = random.Random(seed)
    profit, returns = (mean + draw.uniform(-0.2, 0.2) for mean in MEANS[arm])  # in [0, 1]
    return profit, returns, draw.random()


def _problem(name):
    Path(f"{name}.toml").write_text(PROBLEM.format(name=name))
    source = f"import sys; sys.path.insert(0, {str(ROOT / 'tests')!r})\n"
    Path("measure.py").write_text(source + "from snippet_files import evaluate\n")


def _rows(count):
    seeds = iter(range(10**6))
    return [
        (group, arm, *(round(v, 4) for v in evaluate(group, arm, next(seeds))))
        for _ in range(count)
        for group, arms in GROUPS.items()
        for arm in arms
    ]


def _table(path, delimiter=",", count=40):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "wt", newline="") as file:
        rows = csv.writer(file, delimiter=delimiter)
        rows.writerow(["group", "arm", "profit", "returns", "latency"])
        rows.writerows(_rows(count))


def real_data():
    """Tables of several kinds, a problem file, a frame and an answer."""
    _problem("bundles")
    _table("data.csv")
    _table("runs.tsv.gz", "\t")
    _table("pilot.csv")
    Path("results.jsonl").write_text("\n".join(map(json.dumps, _answers())) + "\n")
    import pandas as pd

    frame = pd.DataFrame(_answers()).drop(columns=["cost", "latency"])
    found = bg.certify(bg.datasets.digits(), bg.ParetoGroups(0.02), noise=bg.Bounded(0, 1))
    return {"bg": bg, "frame": frame, "found": found}


def _answers():
    draw = random.Random(1)
    return [
        {
            "model": model,
            "prompt": prompt,
            "id": f"q{question}",
            "when": f"2026-01-{question % 28 + 1:02}",
            "correct": int(draw.random() < chance),
            "cost": round(chance * draw.uniform(0.01, 0.02), 5),
            "latency": round(draw.uniform(0.5, 3), 3),
        }
        for model, prompt, chance in [("small", "short", 0.5), ("large", "short", 0.9)]
        for question in range(40)
    ]


def studies():
    """A problem file, a laboratory, and a study that has ended."""
    _problem("bundles")
    _problem("tuning")
    spec = bg.load_spec("tuning.toml")
    bg.solve(spec.problem, spec.goal, evaluate, storage="sqlite:///bestgroup.db", name="tuning")
    Path("tuning.toml").unlink()  # the page writes it
    lab = Path("my-lab")
    lab.write_text(
        f"#!{sys.executable}\nimport json, sys\n"
        "for line in sys.stdin:\n"
        '    print(json.dumps({**json.loads(line), "values": [0.3, 0.1, 12.0]}))\n'
    )
    lab.chmod(lab.stat().st_mode | stat.S_IXUSR)
    return {"evaluate": evaluate}


def proofs():
    """Rows that are proven by boxes, and a study of them."""
    noise = bg.SubGaussian(0.1, arms="arbitrary")
    problem = bg.Problem({"A": ["a"], "B": ["b"]}, {"score": "max"}, noise)
    goal = bg.ParetoGroups(0.05)

    def score(group, arm, seed):
        return [{"a": 0.9, "b": 0.1}[arm] + random.Random(seed).uniform(-0.1, 0.1)]

    study = bg.create_study("proofs", problem, goal, storage="memory", algorithm="te")
    while tickets := study.ask(8):
        for ticket in tickets:
            study.tell(ticket, score(ticket.group, ticket.arm, ticket.seed))
    study.export("rows.csv")
    Path("verifier").symlink_to(ROOT / "verifier")
    tape = [[[[1.0]]] * 2000, [[[0.0]]] * 2000]
    names = {"bg": bg, "problem": problem, "goal": goal, "evaluate": score, "study": study}
    return {**names, "tape": tape}


def items():
    """The questions and scores of a benchmark."""
    bg.datasets.digits().save("scores.csv")

    def score(group, arm, item):
        better = 0.2 * (group == "large")
        return min(1.0, 0.7 + better + int(item[1:]) % 5 / 50), 0.4 - better

    return {"questions": [f"q{k}" for k in range(30)], "score": score}


def operators():
    """A storage."""
    studies()
    return {}


def jump():
    """An instance."""
    return {
        "bg": bg,
        "instance": bg.Instance.random(groups=3, arms=2, dims=2, pareto=1, min_gap=0.2, seed=1),
    }


PREPARE = {
    "docs/real-data.md": real_data,
    "docs/studies.md": studies,
    "docs/proof-format.md": proofs,
    "docs/items.md": items,
    "docs/operators.md": operators,
    "docs/jump.md": jump,
}
