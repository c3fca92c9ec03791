"""The notebooks run from top to bottom, and are kept in git without outputs."""

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(path.name for path in FOLDER.glob("*.ipynb"))
QUICK = {"1_first_steps.ipynb", "2_seven_games.ipynb", "5_arena_and_elo.ipynb"}
TIMEOUT_S = 600  # of one cell


def read(name: str) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return notebook


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 6 and QUICK <= set(NOTEBOOKS)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_kept_clean(name: str) -> None:
    """No outputs, no counters, no traces of a run; valid in the format."""
    nbformat = pytest.importorskip("nbformat")
    notebook = read(name)
    nbformat.validate(notebook)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert set(notebook["metadata"]) <= {"kernelspec", "language_info"}
    assert notebook["metadata"]["language_info"] == {"name": "python"}
    for cell in notebook["cells"]:
        assert cell["metadata"] == {}
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else [pytest.mark.long], id=name)
        for name in NOTEBOOKS
    ],
)
# The client's sockets may be collected after its loop was closed.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_runs(name: str, tmp_path: Path) -> None:
    """Every cell runs; pictures and boards are shown."""
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("anywidget")
    pytest.importorskip("matplotlib")
    if name not in QUICK:
        pytest.importorskip("sb3_contrib")
    import nbformat

    notebook = nbformat.read(FOLDER / name, as_version=4)  # type: ignore[no-untyped-call, unused-ignore]
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=TIMEOUT_S, resources=resources).execute()
    shown = {
        kind
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        for kind in output.get("data", {})
    }
    assert shown & {"image/svg+xml", "image/png"}
