"""All that speaks to a broker."""
