"""The documentation site: `make docs` builds it, and a warning is an error."""

from bestgroup import __version__

project = "bestgroup"
author = "The bestgroup authors"
release = version = __version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"bestgroup {version}"
# Nothing is loaded from elsewhere: pages read the same without a network.
html_theme_options = {"source_edit_link": "", "footer_icons": []}
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
# Links to files of the source tree are for readers of the source.
suppress_warnings = ["myst.xref_missing"]
