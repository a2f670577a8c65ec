"""Workers killed, stopped and raced on a real broker."""
