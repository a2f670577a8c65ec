"""What is found and what is not, on cases written for this project."""
