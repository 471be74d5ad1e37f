"""Three tables from end to end; every number and status agrees with every other."""

import sys

import pytest

from stories.tables import STORIES
from stories.walk import walk


@pytest.mark.parametrize("name", STORIES)
def test_a_table_from_its_first_look_to_its_certificate(name, tmp_path, monkeypatch):
    story = STORIES[name]()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    table = story.write(tmp_path)
    columns = {"group": story.group, "arm": story.arm, "item": story.item}
    found = walk(table, story.options(), columns, tmp_path, story.larger)
    assert found.accepted and not found.undecided
