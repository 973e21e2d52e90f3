"""A model of a Kubernetes cluster: values in, values out, time as a value.

Theory. A ``World`` is one state of a cluster: objects, one counter of versions, the time. Two things move it:

1. A request (``requests``): what the API server does with a create, an apply, a replace or a delete.
2. Time (``engine.advance``): what controllers, the kubelet and the aggregator do until then.

Rules of the model:

- Requests take no time; controllers act at the instant at which what they watch has changed, except where
  ``Timing`` gives a delay. So a plan that is safe here does not live on luck with delays, and the delays that
  hurt (a condition that lags its evidence) are there.
- A service path is judged by its worst endpoint, not by one that happens to answer.
- Nothing is copied that does not change: a step costs what it touches.
"""
