"""The shell: each module owns one thing of the outside world and turns its errors into ours."""

import os

# GitPython looks for git when it is imported; without this a machine that has none gets its traceback
# instead of our error.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
