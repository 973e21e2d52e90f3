"""What is found wrong with objects before anything is written."""
