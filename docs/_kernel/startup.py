"""What the kernels of the site's notebooks start with."""

import subprocess

from IPython.core.magic import register_cell_magic


@register_cell_magic
def bash(_line: str, cell: str) -> None:
    """Run a cell in bash and show what it printed as one piece; IPython's own cuts lines in two."""
    done = subprocess.run(
        ["bash", "-e"],
        input=cell,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    print("\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines()))
    done.check_returncode()
