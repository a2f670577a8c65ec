"""Tests of what people and operators touch."""
