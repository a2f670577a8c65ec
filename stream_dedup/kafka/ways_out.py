"""The commands that mend what a stage refuses to go on with, as its sentences name them."""

KEEPING_THE_INDEX = "stream-dedup reset --from changelog"
"""Goes on where the changelog says that reading ended."""
WITHOUT_THE_INDEX = "stream-dedup reset --from committed"
"""Goes on where the groups' offsets stand; articles from before are no longer known."""
