# The agent as an image: the wheel, git for fetching, and nothing that runs as root.
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE CHANGELOG.md ./
COPY agent agent
COPY policies policies
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
# GitPython drives the git program; ssh is its transport for private repositories.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git openssh-client \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -rf /wheels
RUN useradd --uid 65532 --create-home --home-dir /home/trapeze trapeze
# A number, so that a cluster can see that it is not root (runAsNonRoot).
USER 65532:65532
WORKDIR /home/trapeze
ENV PYTHONUNBUFFERED=1
ENTRYPOINT ["trapeze"]
CMD ["run"]
