"""What the API server would refuse of a desired object, found before anything is written."""
