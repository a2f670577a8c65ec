"""What is found and what is not, beside what people would write instead."""
