"""The names of ``clrs._src.clrs_text``. :mod:`clrs_rs.text` has more, and ``clrs text generate`` writes files."""

from clrs_rs.clrs_text import clrs_utils, huggingface_generators

__all__ = ["clrs_utils", "huggingface_generators"]
