"""Tests of all that speaks to a broker."""
