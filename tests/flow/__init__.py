"""A flow of articles through real workers, and what must come of it: shared by end-to-end and fault tests."""
