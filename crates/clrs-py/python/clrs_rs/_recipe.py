"""Recipes: everything that determines a run."""

import dataclasses
import html
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from clrs_rs import _arguments, _core, samplers
from clrs_rs.errors import ArgumentTypeError, RecipeError, UnknownAlgorithmError
from clrs_rs.reports import table

__all__ = ["Recipe", "RecipeLike", "recipe", "recipes", "resolve"]


@dataclasses.dataclass(frozen=True)
class Recipe(Mapping[str, Any]):
    """Everything that determines a run: a mapping of its fields. :func:`recipe` creates one.

    >>> import clrs_rs
    >>> paper = clrs_rs.recipe("paper-2022", algorithms=["bfs"], seed=3)
    >>> paper["processor"], paper["seed"]
    ('mpnn', 3)
    """

    #: The complete recipe as TOML, the form of ``clrs train FILE``.
    toml: str
    fields: dict[str, Any] = dataclasses.field(repr=False)

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __repr__(self) -> str:
        return f"Recipe({', '.join(f'{name}={self.fields[name]!r}' for name in self._changed())})"

    def _repr_html_(self) -> str:
        changed = self._changed()
        rows = (
            (f"<b>{name}</b>" if name in changed else name, f"<code>{html.escape(str(value))}</code>", html.escape(text))
            for name, value, text in ((name, self.fields[name], text) for name, _, text in _core.recipe_fields())
        )
        return table(("field", "value", "description"), rows)

    def _changed(self) -> list[str]:
        """Fields that do not have their defaults."""
        _, defaults = _core.recipe("", [])
        default = json.loads(defaults)
        return [name for name, value in self.fields.items() if value != default[name]]


def recipe(base: "RecipeLike" = None, **fields: Any) -> Recipe:
    """A recipe: a shipped one (:func:`recipes`), a TOML file, or the defaults, with some fields replaced.

    Raises:
        RecipeError: If a field is unknown, or its value is out of range.
    """
    return resolve(base, fields)


def resolve(base: "RecipeLike", fields: Mapping[str, Any]) -> Recipe:
    if isinstance(base, Recipe):
        text = base.toml
    elif base is None:
        text = ""
    else:
        shipped = dict(_core.recipes())
        name = _arguments.path("recipe", base)
        if name in shipped:
            text = shipped[name]
        elif os.path.exists(name):
            try:
                with open(name, encoding="utf-8") as file:
                    text = file.read()
            except (OSError, UnicodeDecodeError) as error:
                raise RecipeError(f"cannot read the recipe {name}: {error}") from error
        else:
            raise RecipeError(f"unknown recipe `{name}`: neither a file nor one of {', '.join(shipped)}")
    toml, values = _core.recipe(text, [f"{name}={_field(name, value)}" for name, value in fields.items()])
    resolved = Recipe(toml, json.loads(values))
    for name in resolved["algorithms"]:
        if name in _core.algorithms():
            continue
        if name in samplers.SAMPLERS:
            raise UnknownAlgorithmError(
                f"`{name}` is written in Python, and recipes are for algorithms of the engine; train a models.BaselineModel on "
                f'the batches of build_sampler("{name}", ..)'
            )
        raise UnknownAlgorithmError(f"unknown algorithm `{name}`{_core.did_you_mean(name, list(_core.algorithms()))}")
    return resolved


def recipes() -> list[str]:
    """Names of the shipped recipes."""
    return [name for name, _ in _core.recipes()]


def _field(name: str, value: Any) -> str:
    """A value of a recipe as in ``clrs train --set``."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    if isinstance(value, (list, tuple, range)):
        return ",".join(_field(name, item) for item in value)
    if isinstance(value, (str, int, float, np.number)):
        return str(value)
    if isinstance(value, os.PathLike):
        return _arguments.path(name, value)
    raise ArgumentTypeError(f"`{name}` must be a str, a number or a list of them, not {_arguments.describe(value)}")


#: Name of a shipped recipe, a TOML file, a recipe, or the defaults.
RecipeLike: TypeAlias = str | os.PathLike[str] | Recipe | None
