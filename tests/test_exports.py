import subprocess
import sys

import bestgroup as bg


def test_public_names_are_sorted_and_all_there():
    assert bg.__all__ == sorted(bg.__all__)
    for name in bg.__all__:
        assert getattr(bg, name) is not None
    assert set(bg._HOMES) | {"__version__"} == set(bg.__all__)


def test_simulate_is_the_function_whatever_was_imported_first():
    code = "import bestgroup.drivers.replay, bestgroup as bg; assert callable(bg.simulate)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_is_light():
    code = (
        "import sys, bestgroup as bg; bg.ParetoGroups, bg.algorithm('te'), bg.replay;"
        "heavy = {'numba', 'scipy', 'matplotlib', 'pandas', 'typer'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
