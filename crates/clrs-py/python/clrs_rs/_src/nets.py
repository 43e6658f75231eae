"""The place of ``clrs._src.nets``, whose import here says what to use instead."""

raise ImportError("`_src.nets` is JAX code of dm-clrs, and does not exist here; docs/migration.md says what to use instead")
