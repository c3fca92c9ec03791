"""The rules of every game once more: slow, plain Python, written from the rules text alone.

They are the oracle for the native engine and never imported by the package.
"""

import importlib
import pkgutil

from deskovky.envs.python_game import PythonGame


def references() -> dict[str, type[PythonGame]]:
    """Return the reference games of this package by id."""
    games: dict[str, type[PythonGame]] = {}
    for module in pkgutil.iter_modules(__path__):
        for value in vars(importlib.import_module(f"{__name__}.{module.name}")).values():
            if isinstance(value, type) and issubclass(value, PythonGame) and hasattr(value, "id"):
                games[value.id] = value
    return games


REFERENCES = references()
