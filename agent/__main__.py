"""``python -m agent`` is the command ``trapeze``."""

from agent.cli import main

if __name__ == "__main__":
    main()
