"""`init` on a folder says which table it could take, and writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from bestgroup.cli.main import run


@pytest.mark.parametrize(("tables", "said"), [((), "is a folder"), (("a.csv", "b.tsv"), "a.csv")])
def test_a_folder_is_no_table(
    tables: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in tables:
        (tmp_path / name).write_text("group,x\nA,1\n")
    with pytest.raises(SystemExit) as stopped:
        run(["init", "."])
    assert stopped.value.code == 2 and said in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(tables)
