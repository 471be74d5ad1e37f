"""The routes that make studies and remove them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request
from pydantic import ValidationError

from bestgroup.errors import InvalidInput
from bestgroup.files.problem_file import Spec, load_spec
from bestgroup.problem.goals import Goal, goal_from_dict
from bestgroup.problem.problem import Problem
from bestgroup.service import schemas
from bestgroup.service.api import AStudy, hub_of, scratch, study_out, without_path
from bestgroup.service.auth import SCHEMES
from bestgroup.service.problems import described
from bestgroup.studies.catalog import create_study

router = APIRouter(prefix="/api/v1", tags=["studies"], dependencies=SCHEMES, responses=described())


@router.post("/studies", status_code=201, summary="Create a study")
def create(request: Request, body: schemas.CreateBody) -> schemas.StudyOut:
    """Create a study; its name must be new."""
    problem = Problem.from_dict(body.problem.model_dump())
    rest = {"algorithm": body.algorithm, "batch": body.batch}
    rest |= {"horizon": body.horizon, "seed": body.seed}
    return _created(
        request,
        body.name,
        problem,
        goal_from_dict(body.goal.model_dump(exclude_none=True)),
        body.delta,
        rest,
    )


@router.post("/studies/file", status_code=201, summary="Create a study from a problem file")
def create_from_file(request: Request, body: schemas.FileBody) -> schemas.StudyOut:
    """Create a study from the text of a problem file (TOML), as `bestgroup study create` does.

    Nothing of the file is run, and its means are not looked at.
    """
    spec = _read(body.text)
    name = body.name or spec.name
    if not name:
        raise InvalidInput("name: is missing; give one to the file or to the request")
    problem = spec.problem
    try:
        schemas.ProblemBody.model_validate(problem.to_dict())
        schemas.named.validate_python(name)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "name"
        raise InvalidInput(f"{place}: {first['msg']}") from None
    rest = {"algorithm": spec.algorithm, "horizon": body.horizon, "seed": body.seed}
    return _created(request, name, problem, spec.goal, spec.delta, rest)


@router.delete("/study", summary="Remove a study")
def remove(request: Request, watched: AStudy) -> schemas.Done:
    """Remove a study and all that was told it, for good; leases on it end with it."""
    study = watched.study
    hub_of(request).remove(study.name, study.identity, request.state.who)
    return schemas.Done()


def _created(
    request: Request, name: str, problem: Problem, goal: Goal, delta: float, rest: dict[str, Any]
) -> schemas.StudyOut:
    hub = hub_of(request)
    create_study(name, problem, goal, delta, hub.store, who=request.state.who, **rest)
    hub.refresh()  # another process may have deleted one of that name
    return study_out(hub.find(name))


def _read(text: str) -> Spec:
    with scratch(".toml") as path:
        path.write_bytes(text.encode("utf-8", "replace"))
        try:
            spec = load_spec(path)
        except InvalidInput as error:
            raise InvalidInput(without_path(str(error), path)) from None
    return replace(spec, name="") if spec.name == path.stem else spec
