"""Settings of the documentation: `make docs` builds it with Sphinx, warnings being errors."""

import re
from collections.abc import Iterator

import deskovky

project = "deskovky"
copyright = "the deskovky authors"
version = release = deskovky.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
html_theme = "furo"
html_title = f"deskovky {release}"
html_static_path: list[str] = []

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
# The games' READMEs are shown as they are; their links to files of the repository stay text.
suppress_warnings = ["myst.xref_missing", "myst.header"]

default_role = "code"  # of `single backticks`

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "show-inheritance": True}
python_use_unqualified_type_names = True


def as_fields(lines: list[str]) -> Iterator[str]:
    """Yield a docstring whose paragraphs of lines ``name: what it is`` are field lists, and whose
    indented paragraphs are shown as they are."""
    for paragraph in re.split(r"\n(?=\n)", "\n".join(lines)):
        rows = [row for row in paragraph.split("\n") if row]
        heads = [row for row in rows if not row.startswith(" ")]
        if heads and all(re.match(r"[a-z][\w, ]*: ", row) for row in heads):
            paragraph = re.sub(r"^(?=[a-z])([\w, ]+): ", r":\1: ", paragraph, flags=re.MULTILINE)
        if rows and not heads:
            yield from ("", "::")
        yield from paragraph.split("\n")


def setup(app: object) -> None:
    def process(
        app: object, what: str, name: str, obj: object, options: object, lines: list[str]
    ) -> None:
        lines[:] = [re.sub(r"(?<=\w)\*\*(?=\w)", r"\\*\\*", line) for line in as_fields(lines)]

    app.connect("autodoc-process-docstring", process)  # type: ignore[attr-defined]
