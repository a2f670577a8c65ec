"""The files that operators start from."""
