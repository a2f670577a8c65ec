"""Text to fingerprint, the index, deciding: pure functions and states, no I/O."""
