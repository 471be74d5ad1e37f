"""`bestgroup demo`: the whole story on one screen, and as a plot."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestgroup.cli import output
from bestgroup.cli.problem import Json
from bestgroup.errors import InvalidInput
from bestgroup.files.replacing import replacing

if TYPE_CHECKING:
    from rich.console import Console

    from bestgroup.files.problem_file import Spec
    from bestgroup.problem.goals import Goal
    from bestgroup.problem.instance import Instance
    from bestgroup.simulation.simulate import Simulation
    from bestgroup.theory.characteristic_time.limit import CharacteristicTime

PROBLEM = Path(__file__).with_name("bundles.toml")
# The paper's algorithms first, ours last.
_ASKED = {
    "Pareto": ("te", "age", "ge", "unis", "te-plus", "adaptive"),
    "best": ("eecb", "tel", "adaptive"),
}
_TITLES = {
    "te": "TE",
    "age": "AGE",
    "ge": "GE",
    "unis": "UniS",
    "eecb": "EECB",
    "tel": "TEL",
    "te-plus": "TE+ (ours)",
    "adaptive": "adaptive (ours)",
}


@dataclass
class Question:
    """A goal, its limit once it is known, and what the algorithms for it did so far."""

    kind: str
    text: str
    goal: Goal
    delta: float
    time: CharacteristicTime | None = None
    results: list[Simulation] = field(default_factory=list)

    @property
    def limit(self) -> float:
        """The pulls that every correct algorithm needs on average; NaN while it is sought."""
        return math.nan if self.time is None else self.time.samples(self.delta)

    def gain(self) -> float:
        """How many times fewer pulls our last algorithm takes than the paper's first."""
        first, ours = self.results[0], self.results[-1]
        return float(first.pulls.mean() / ours.pulls.mean())


def command(
    seed: Annotated[int, typer.Option(help="Seed of all runs.")] = 0,
    runs: Annotated[int, typer.Option(help="Runs of each algorithm.")] = 10,
    out: Annotated[
        Path, typer.Option(help="Folder for the plot and the problem file.", metavar="DIR")
    ] = Path("demo-output"),
    json: Json = False,
) -> None:
    """Show the whole story on one screen: an instance, its truth, the algorithms, the limit."""
    from bestgroup.files.problem_file import load_spec
    from bestgroup.problem.arrays import positive_int, seed_of

    positive_int(runs, "runs")
    seed_of(seed)
    _check_folder(out)
    start = time.perf_counter()
    output.announce_compilation()
    spec = load_spec(PROBLEM)
    instance = spec.instance()
    questions = _questions(spec, instance)
    steps = _steps(instance, questions, runs, seed)
    if json:
        for _ in steps:
            pass
        files, _ = _write(out, questions)
        output.print_json(_record(spec, instance, questions, files, time.perf_counter() - start))
        return
    screen = output.console()
    _introduce(screen, spec, instance, questions)
    _watch(screen, questions, steps, runs)
    with screen.status("drawing the plot"):  # importing what draws takes seconds
        files, missing = _write(out, questions)
    _conclude(screen, questions, files, missing, time.perf_counter() - start)


def _questions(spec: Spec, instance: Instance) -> tuple[Question, ...]:
    """Return both questions, nothing of them answered yet."""
    import bestgroup as bg

    best = bg.BestGroup([1.0] * instance.shape.dims)
    signs = ["-" if dim.direction == "min" else "+" for dim in spec.decided]
    terms = " ".join(f"{s} {d.name}" for s, d in zip(signs, spec.decided, strict=True))
    return (
        Question("Pareto", "Which bundles are Pareto optimal?", spec.goal, spec.delta),
        Question("best", f"Which bundle is best in {terms.removeprefix('+ ')}?", best, spec.delta),
    )


def _steps(
    instance: Instance, questions: tuple[Question, ...], runs: int, seed: int
) -> Iterator[None]:
    """Fill in limit and algorithms one by one, so that they can be shown as they come."""
    import bestgroup as bg

    for question in questions:
        question.time = bg.characteristic_time(instance, question.goal)
        yield
    for question in questions:
        for name in _ASKED[question.kind]:
            # The exact engine compiles in a third of the time that the jump engine takes.
            question.results.append(
                bg.simulate(
                    instance, question.goal, name, question.delta, runs, seed, engine="exact"
                )
            )
            yield


def _check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made or written, before any work is done."""
    known = folder
    while not known.exists() and known != known.parent:
        known = known.parent
    if not known.is_dir():
        raise InvalidInput(f"{folder} cannot be written: {known} is not a folder")
    if not os.access(known, os.W_OK):
        raise InvalidInput(f"{folder} cannot be written: permission denied")


def _write(folder: Path, questions: tuple[Question, ...]) -> tuple[dict[str, str], str | None]:
    """Write the plot and the problem file; return their names, and why there is no plot if so."""
    files: dict[str, str] = {}
    missing = None
    try:
        figure = _figure(questions)
    except InvalidInput as error:
        figure, missing = None, str(error)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be written: {error.strerror}") from None
    if figure is not None:
        path = folder / "demo.png"
        with replacing(path) as temporary:
            figure.savefig(temporary, format="png")
        files["plot"] = str(path)
    for key, source in (("problem", PROBLEM), ("table", _table())):
        path = folder / source.name
        if not path.exists():  # an edited copy is the user's
            with replacing(path) as temporary:
                temporary.write_bytes(source.read_bytes())
        files[key] = str(path)
    return files, missing


def _table() -> Path:
    """Return the table that ships: classifiers on the same images."""
    from bestgroup.analysis.datasets import DIGITS

    return DIGITS


def _figure(questions: tuple[Question, ...]) -> Any:
    from bestgroup import plots

    panels = [
        plots.Panel(
            question.text,
            [
                plots.Bar(
                    _TITLES[result.algorithm.name],
                    float(result.pulls.mean()),
                    float(result.pulls.std(ddof=1)) if result.runs > 1 else 0.0,
                    result.guarantee.level == "proven",
                )
                for result in question.results
            ],
            question.limit,
        )
        for question in questions
    ]
    delta = questions[0].results[0].delta
    return plots.pulls(panels, f"How many pulls until the answer? (delta = {delta:g})")


def _record(
    spec: Spec,
    instance: Instance,
    questions: tuple[Question, ...],
    files: dict[str, str],
    seconds: float,
) -> dict[str, Any]:
    import bestgroup as bg

    return {
        "groups": list(instance.groups),
        "arms": [list(arms) for arms in instance.arms],
        "dims": [{"name": d.name, "direction": d.direction} for d in spec.decided],
        "efficiency": spec.mirror(instance.efficiency),
        "delta": spec.delta,
        "questions": [
            {
                "question": question.text,
                "goal": question.goal.to_dict(),
                "optimal": [
                    instance.groups[i] for i in sorted(bg.optimal_groups(instance, question.goal))
                ],
                "gaps": bg.gaps(instance, question.goal).group,
                "characteristic_time": question.time.value if question.time else None,
                "limit": question.limit,
                "algorithms": [_result_record(question, r) for r in question.results],
            }
            for question in questions
        ],
        "files": files,
        "seconds": seconds,
    }


def _result_record(question: Question, result: Simulation) -> dict[str, Any]:
    return {
        "algorithm": result.algorithm.name,
        "runs": result.runs,
        "pulls": float(result.pulls.mean()),
        "sd": float(result.pulls.std(ddof=1)) if result.runs > 1 else None,
        "times_the_limit": float(result.pulls.mean()) / question.limit,
        "errors": result.errors,
        "guarantee": result.guarantee.level,
        "statement": result.guarantee.statement,
    }


def _introduce(
    screen: Console, spec: Spec, instance: Instance, questions: tuple[Question, ...]
) -> None:
    scale = float(instance.scale[0])
    screen.print("Which bundles of products are worth offering?", style="bold")
    screen.print(
        "Asking a customer about a product (a pull of an arm) gives three noisy numbers "
        f"(sd {scale:g}).\nA bundle (a group) is worth, in each of them, what its best product is "
        "worth there. The truth:"
    )
    screen.print(_truth_table(spec, instance, questions))


def _watch(
    screen: Console, questions: tuple[Question, ...], steps: Iterator[None], runs: int
) -> None:
    """Show the table of pulls, on a terminal as it fills."""
    from rich.live import Live

    screen.print(
        f"{' '.join(question.text for question in questions)}\n"
        f"Pulls until the answer (mean of {runs} runs, delta = {questions[0].delta:g}), and the "
        "limit, T* kl(delta, 1 - delta):"
    )
    if not screen.is_terminal:
        for _ in steps:
            pass
        screen.print(_pulls_table(questions))
        return
    with Live(_pulls_table(questions), console=screen, refresh_per_second=4) as live:
        for _ in steps:
            live.update(_pulls_table(questions))


def _conclude(
    screen: Console,
    questions: tuple[Question, ...],
    files: dict[str, str],
    missing: str | None,
    seconds: float,
) -> None:
    pareto, best = questions
    screen.print(
        f"adaptive needs {pareto.gain():.0f} times fewer pulls than the paper's TE and "
        f"{best.gain():.0f} times fewer than its EECB, also proven at the same delta.",
        style="bold",
    )
    results = [result for question in questions for result in question.results]
    wrong = sum(result.errors for result in results)
    total = sum(result.runs for result in results)
    screen.print(
        f"All {total} answers are right."
        if wrong == 0
        else f"{wrong} of {total} answers are wrong."
    )
    for result in results:
        if result.guarantee.level == "none":
            screen.print(output.escape(f"No guarantee: {result.guarantee.statement}."))
    screen.print("How much is gained depends on the instance; this one was made for the demo.")
    screen.print(output.escape(f"plot: {files.get('plot', missing)}   ({seconds:.1f} s)"))
    screen.print(output.escape(f"next: bestgroup bounds {files['problem']}"))
    screen.print(
        output.escape(
            f"and a real table: bestgroup certify {files['table']} --noise bounded:0,1 --epsilon 0.02"
        )
    )


def _truth_table(spec: Spec, instance: Instance, questions: tuple[Question, ...]) -> Any:
    import bestgroup as bg

    pareto, best = (bg.optimal_groups(instance, question.goal) for question in questions)
    gap = [bg.gaps(instance, question.goal).group for question in questions]
    efficiency = spec.mirror(instance.efficiency)
    heads = [f">{d.name}{' (min)' if d.direction == 'min' else ''}" for d in spec.decided]
    rows = [
        (
            name,
            instance.shape.sizes[i],
            *(f"{value:.2f}" for value in efficiency[i].tolist()),
            "yes" if i in pareto else "no",
            f"{gap[0][i]:.3f}",
            "yes" if i in best else "no",
            f"{gap[1][i]:.3f}",
        )
        for i, name in enumerate(instance.groups)
    ]
    columns = ["bundle", ">products", *heads, "Pareto", ">gap", "best", ">gap"]
    return output.table(None, columns, rows)


def _pulls_table(questions: tuple[Question, ...]) -> Any:
    rows: list[tuple[str, ...]] = []
    for question in questions:
        if rows:
            rows.append(("",) * 7)
        limit = question.limit
        rows.append((question.kind, "the limit", _or_dots(limit), "", "1", "", ""))
        done = {result.algorithm.name: result for result in question.results}
        rows += [
            _pulls_row(name, done.get(name), limit, len(done) == place)
            for place, name in enumerate(_ASKED[question.kind])
        ]
    columns = ["question", "algorithm", ">pulls", ">sd", ">times the limit", ">right", "guarantee"]
    return output.table(None, columns, rows)


def _pulls_row(name: str, result: Simulation | None, limit: float, next_: bool) -> tuple[str, ...]:
    if result is None:
        known = "running" if next_ and not math.isnan(limit) else ""
        return ("", _TITLES[name], known, "", "", "", "")
    mean = float(result.pulls.mean())
    sd = output.count(float(result.pulls.std(ddof=1))) if result.runs > 1 else "-"
    times = mean / limit
    return (
        "",
        _TITLES[name],
        output.count(mean),
        sd,
        f"{times:.0f}" if times >= 10 else f"{times:.1f}",
        f"{int(result.correct.sum())}/{result.runs}",
        result.guarantee.level,
    )


def _or_dots(value: float) -> str:
    return "..." if math.isnan(value) else output.count(value)
