"""The documentation site: `make docs` builds it, runs its notebooks, and a warning is an error."""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from bestgroup import __version__

project = "bestgroup"
author = "The bestgroup authors"
copyright = "the bestgroup authors"
release = version = __version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "_kernel", "jupyter_execute"]
html_theme = "furo"
html_title = f"bestgroup {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
# Nothing is loaded from elsewhere: pages read the same without a network.
html_theme_options = {"source_edit_link": "", "footer_icons": []}
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
# Notebooks run at every build: an output that is kept could be older than the library.
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
# Links to files of the source tree are for readers of the source.
suppress_warnings = ["myst.xref_missing"]

# Shell cells find the command line of the Python that builds the site, and lines fit the page.
os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
_ipython = Path(tempfile.mkdtemp(prefix="bestgroup-docs-"))
(_ipython / "profile_default" / "startup").mkdir(parents=True)
shutil.copy(Path(__file__).parent / "_kernel" / "startup.py", _ipython / "profile_default/startup")
os.environ.update(COLUMNS="84", NO_COLOR="1", TERM="dumb", IPYTHONDIR=str(_ipython))


def setup(app: Any) -> None:
    """Remove what the kernels left behind when the site is built."""
    app.connect("build-finished", lambda *_: shutil.rmtree(_ipython, ignore_errors=True))
