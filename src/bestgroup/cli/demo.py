"""`bestgroup demo`: the whole story on one screen, and as a plot."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestgroup.cli import output
from bestgroup.cli.problem import Json, goal_record
from bestgroup.errors import InvalidInput
from bestgroup.files.replacing import replacing

if TYPE_CHECKING:
    from bestgroup.files.problem_file import Spec
    from bestgroup.problem.goals import Goal
    from bestgroup.problem.instance import Instance
    from bestgroup.simulation.simulate import Simulation
    from bestgroup.theory.characteristic_time.limit import CharacteristicTime

PROBLEM = Path(__file__).with_name("bundles.toml")
_TITLES = {
    "te": "TE",
    "age": "AGE",
    "ge": "GE",
    "unis": "UniS",
    "eecb": "EECB",
    "tel": "TEL",
}


@dataclass(frozen=True)
class Question:
    """A goal, what the algorithms for it did, and the limit."""

    kind: str
    text: str
    goal: Goal
    time: CharacteristicTime
    results: tuple[Simulation, ...]

    @property
    def limit(self) -> float:
        """The pulls that every correct algorithm needs on average."""
        return self.time.samples(self.results[0].delta)


def command(
    seed: Annotated[int, typer.Option(help="Seed of all runs.")] = 0,
    runs: Annotated[int, typer.Option(help="Runs of each algorithm.")] = 10,
    out: Annotated[
        Path, typer.Option(help="Folder for the plot and the problem file.", metavar="DIR")
    ] = Path("demo-output"),
    json: Json = False,
) -> None:
    """Show the whole story on one screen: an instance, its truth, six algorithms, the limit."""
    from bestgroup.files.problem_file import load_spec
    from bestgroup.problem.arrays import positive_int, seed_of

    positive_int(runs, "runs")
    seed_of(seed)
    _check_folder(out)
    start = time.perf_counter()
    output.announce_compilation()
    spec = load_spec(PROBLEM)
    instance = spec.instance()
    questions = _ask(spec, instance, runs, seed)
    files, missing = _write(out, questions)
    seconds = time.perf_counter() - start
    if json:
        output.print_json(_record(spec, instance, questions, files, seconds))
    else:
        _show(spec, instance, questions, files, missing, seconds)


def _ask(spec: Spec, instance: Instance, runs: int, seed: int) -> tuple[Question, ...]:
    """Return both questions with the paper's algorithms for each."""
    import bestgroup as bg

    best = bg.BestGroup([1.0] * instance.shape.dims)
    signs = ["-" if dim.direction == "min" else "+" for dim in spec.decided]
    terms = " ".join(f"{s} {d.name}" for s, d in zip(signs, spec.decided, strict=True))
    asked = (
        ("Pareto", "Which bundles are Pareto optimal?", spec.goal, ("te", "age", "ge", "unis")),
        ("best", f"Which bundle is best in {terms.removeprefix('+ ')}?", best, ("eecb", "tel")),
    )
    return tuple(
        Question(
            kind,
            text,
            goal,
            bg.characteristic_time(instance, goal),
            # The exact engine compiles in a third of the time that the jump engine takes.
            tuple(
                bg.simulate(instance, goal, name, spec.delta, runs, seed, engine="exact")
                for name in names
            ),
        )
        for kind, text, goal, names in asked
    )


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
    problem = folder / "bundles.toml"
    if not problem.exists():  # an edited copy is the user's
        with replacing(problem) as temporary:
            temporary.write_bytes(PROBLEM.read_bytes())
    files["problem"] = str(problem)
    return files, missing


def _figure(questions: tuple[Question, ...]) -> Any:
    from bestgroup.plots import pulls as plots

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
                "goal": goal_record(question.goal),
                "optimal": [
                    instance.groups[i] for i in sorted(bg.optimal_groups(instance, question.goal))
                ],
                "gaps": bg.gaps(instance, question.goal).group,
                "characteristic_time": question.time.value,
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


def _show(
    spec: Spec,
    instance: Instance,
    questions: tuple[Question, ...],
    files: dict[str, str],
    missing: str | None,
    seconds: float,
) -> None:
    screen = output.console()
    scale = float(instance.scale[0])
    screen.print("Which bundles of products are worth offering?", style="bold")
    screen.print(
        "Asking a customer about a product (a pull of an arm) gives three noisy numbers "
        f"(sd {scale:g}).\nA bundle (a group) is worth, in each of them, what its best product is "
        "worth there. The truth:"
    )
    screen.print(_truth_table(spec, instance, questions))
    results = [result for question in questions for result in question.results]
    screen.print(
        f"{' '.join(question.text for question in questions)}\n"
        f"Pulls until the answer (mean of {results[0].runs} runs, delta = {spec.delta:g}), and the "
        "limit, T* kl(delta, 1 - delta):"
    )
    screen.print(_pulls_table(questions))
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
    screen.print(
        "Which algorithm is ahead depends on the instance; this one was made for the demo."
    )
    screen.print(output.escape(f"plot: {files.get('plot', missing)}   ({seconds:.1f} s)"))
    screen.print(output.escape(f"next: bestgroup bounds {files['problem']}"))


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
        rows.append((question.kind, "the limit", output.count(limit), "", "1", "", ""))
        for result in question.results:
            mean = float(result.pulls.mean())
            sd = output.count(float(result.pulls.std(ddof=1))) if result.runs > 1 else "-"
            rows.append(
                (
                    "",
                    _TITLES[result.algorithm.name],
                    output.count(mean),
                    sd,
                    f"{mean / limit:.0f}",
                    f"{int(result.correct.sum())}/{result.runs}",
                    result.guarantee.level,
                )
            )
    columns = ["question", "algorithm", ">pulls", ">sd", ">times the limit", ">right", "guarantee"]
    return output.table(None, columns, rows)
