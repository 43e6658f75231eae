"""Programs that use the package."""
