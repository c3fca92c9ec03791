"""Lay the package out under build/typing/ as it is installed, by links, for type checkers.

The folders envs/, agents/ and train/ become deskovky.envs, deskovky.agents and deskovky.train only
when the package is built. mypy and pyright read no build files: they follow these links instead,
so that their messages point at files of the checkout whatever is installed.
"""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TYPING = ROOT / "build" / "typing"


def main() -> None:
    """Make build/typing/deskovky anew: no link to a renamed or deleted file may stay behind."""
    shutil.rmtree(TYPING, ignore_errors=True)
    package = TYPING / "deskovky"
    package.mkdir(parents=True)
    folders = [ROOT / "envs", ROOT / "agents", ROOT / "train"]
    for source in [*(ROOT / "src" / "deskovky").iterdir(), *folders]:
        if source.name != "__pycache__":
            (package / source.name).symlink_to(source)


if __name__ == "__main__":
    main()
