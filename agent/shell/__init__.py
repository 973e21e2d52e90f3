"""The shell: each module owns one thing of the outside world and turns its errors into ours."""
