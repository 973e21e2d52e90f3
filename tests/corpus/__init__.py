"""Real releases of real projects, where they stand beside the checkout: read, previewed, classified."""
