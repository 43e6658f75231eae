"""Registers classes as JAX pytrees, without importing JAX.

JAX may be imported before this package, after it, or never. In the second case, a finder at the front of ``sys.meta_path``
waits for ``jax.tree_util``, and removes itself after the registration.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Sequence
from typing import Any

_MODULE = "jax.tree_util"


def register(cls: type[Any]) -> None:
    """Makes a class with ``tree_flatten`` and ``tree_unflatten`` a pytree of JAX, now or when JAX is imported."""
    module = sys.modules.get(_MODULE)
    if module is not None and hasattr(module, "register_pytree_node_class"):
        module.register_pytree_node_class(cls)
    else:
        sys.meta_path.insert(0, _Finder(cls))


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, cls: type[Any]) -> None:
        self.cls = cls

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.cls)
        return spec


class _Loader(importlib.abc.Loader):
    """The loader of the module, and then the registration."""

    def __init__(self, loader: importlib.abc.Loader, cls: type[Any]) -> None:
        self.loader = loader
        self.cls = cls

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        self.loader.exec_module(module)
        module.register_pytree_node_class(self.cls)
