"""What kubectl reads, asked of its own code."""
