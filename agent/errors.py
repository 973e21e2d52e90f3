"""Every error that Trapeze raises on purpose.

TrapezeError
├── ConfigError          trapeze.yaml, a flag or a policy table is wrong; the person must act
├── SourceError          the repo, the ref or the path cannot be had
├── LedgerError          the ledger cannot be read, or belongs to a newer Trapeze
└── ClusterError         the API server said no, or nothing
    ├── Unreachable      no answer: connection refused, timeout, TLS
    ├── Unauthorized     401: credentials missing or expired
    ├── Forbidden        403: a right is missing
    ├── NotServed        the server does not serve this kind
    ├── NotFound         404: the object, or its namespace, is not there
    ├── Conflict         409: another field manager, a moved resourceVersion, a different uid
    ├── Invalid          400, 422: the server refuses the object as it is
    └── Rejected         admission refused it, or its webhook could not be asked

None of them is ever evidence that a step is safe: who catches one holds, and says why.
"""


class TrapezeError(Exception):
    """The root; its text says what was being done, what went wrong and the way out."""


class ConfigError(TrapezeError):
    """The configuration, a flag or a policy table is wrong."""


class SourceError(TrapezeError):
    """The repo, the ref or the path cannot be had."""


class LedgerError(TrapezeError):
    """The ledger cannot be read or was written by a newer version."""


class ClusterError(TrapezeError):
    """The API server refused, or could not be asked."""


class Unreachable(ClusterError):
    """No answer came: connection refused, timeout, TLS failure, 5xx without a Status."""


class Unauthorized(ClusterError):
    """401: the credentials are missing or have expired."""


class Forbidden(ClusterError):
    """403: the identity lacks a right."""


class NotServed(ClusterError):
    """The server serves no such kind."""


class NotFound(ClusterError):
    """404: the object or its namespace is not there."""


class Conflict(ClusterError):
    """409: another field manager owns a field, or uid or resourceVersion moved; 410: the version is too old.

    ``managers`` names the other field managers, sorted; empty where a precondition failed.
    ``already_exists`` is set when a create met an object of that name.
    """

    def __init__(self, message: str, *, managers: tuple[str, ...] = (), already_exists: bool = False) -> None:
        super().__init__(message)
        self.managers = managers
        self.already_exists = already_exists


class Invalid(ClusterError):
    """400 or 422: the server refuses the object as it stands.

    ``is_immutable`` is set when it refuses only the change: the object would have to be made anew.
    """

    def __init__(self, message: str, *, is_immutable: bool = False) -> None:
        super().__init__(message)
        self.is_immutable = is_immutable


class Rejected(ClusterError):
    """Admission refused it (webhook, policy, quota), or a webhook with failurePolicy Fail is down.

    ``is_unanswered`` tells the two apart: nobody said no, the webhook could not be asked.
    """

    def __init__(self, message: str, *, is_unanswered: bool = False) -> None:
        super().__init__(message)
        self.is_unanswered = is_unanswered
