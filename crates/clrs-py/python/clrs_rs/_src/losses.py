"""The place of ``clrs._src.losses``, whose import here says what to use instead."""

raise ImportError("`_src.losses` is JAX code of dm-clrs, and does not exist here; docs/migration.md says what to use instead")
