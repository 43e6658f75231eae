"""Rows for ``datasets``, under the name that dm-clrs has for them."""

from clrs_rs.text import generator as clrs_generator

__all__ = ["clrs_generator"]
