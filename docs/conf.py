"""How the site is built: make docs. Nothing on it is loaded from elsewhere."""

import json
import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

project = "refold"
author = "The refold developers"
copyright = author  # noqa: A001
version = release = version_of("refold")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    # Ours: what is written before the pages are read, and after.
    "drawn_pictures",
    "names_for_all",
    "nothing_from_elsewhere",
    "public_names",
    "plain_text",
]
exclude_patterns = ["extensions", "pictures", "gallery", "auto_gallery/*.zip", "_templates"]
templates_path = ["_templates"]

# A name that does not exist, in a link or under See Also, is an error like any other warning.
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(sklearn|pyod|mlflow|dagster|great_expectations|mcp|pandera|pyspark)\..*")
]

myst_enable_extensions = ["colon_fence", "substitution"]
myst_substitutions = {"version": version}
myst_heading_anchors = 3
highlight_language = "none"

autodoc_typehints = "none"  # the docstrings say what may be given, in words
autodoc_member_order = "groupwise"
toc_object_entries_show_parents = "hide"
autosummary_generate = True
autosummary_generate_overwrite = True
numpydoc_show_class_members = False  # the template of a class lists them

# Examples are run whenever they have changed; one that fails stops the build.
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "within_subsection_order": "reading_order.place",
    "backreferences_dir": "reference/examples",
    "doc_module": ("refold",),
    "reference_url": {"refold": None},
    "abort_on_example_error": True,
    "download_all_examples": False,
    "matplotlib_animations": True,
    "min_reported_time": 1,
    "remove_config_comments": True,
    "reset_modules": ("matplotlib", "example_rules.check"),
    "reset_modules_order": "both",
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,  # a page that loads scripts from elsewhere
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "refold"
html_logo = html_favicon = "../src/refold/report/templates/logo.svg"
html_static_path = ["_static"]
html_css_files = ["refold.css"]
html_js_files = ["refold.js"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "reference/changes": []}  # nothing is below these
# Sites of earlier versions stand beside this one, in folders of these names.
earlier = json.loads((HERE / "versions.json").read_text(encoding="utf-8"))
html_context = {"versions": [version, *earlier]}
html_theme_options = {
    "logo": {"text": "refold", "alt_text": "refold, home"},
    "navbar_start": ["navbar-logo", "versions"],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "show_toc_level": 2,
    "use_edit_page_button": False,
    "back_to_top_button": False,
}
