"""The cache of compiled code tells apart what differs."""

import os
import subprocess
import sys

SCRIPT = """
import sys
from typing import NamedTuple
import numpy as np
from bestgroup.core.kernel import kernel
if sys.argv[1] == "xy":
    class Pair(NamedTuple):
        x: np.ndarray
        y: np.ndarray
else:
    class Pair(NamedTuple):
        y: np.ndarray
        x: np.ndarray
class Outer(NamedTuple):
    inner: Pair
@kernel
def first(outer: Outer) -> float:
    return outer.inner.x[0]
print(first.compiled(Outer(Pair(x=np.array([1.0]), y=np.array([2.0])))))
"""


def test_named_tuples_with_their_fields_in_another_order_are_other_types(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    env = {**os.environ, "BESTGROUP_CACHE": str(tmp_path / "cache")}
    for order in ("xy", "yx", "xy"):
        done = subprocess.run(
            [sys.executable, str(path), order], capture_output=True, text=True, env=env, check=True
        )
        assert done.stdout.strip() == "1.0"
