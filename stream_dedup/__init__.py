"""A streaming near-duplicate filter for news on Kafka."""
