"""Why a model could not be fetched, with the exit status of the command, which tells programs the kind."""

from .package import ConvertError


class PullError(ConvertError):
    pass


class Unreachable(PullError):
    """No network, no such host, a time-out, or a server that fails."""
    status = 3


class NotFound(PullError):
    status = 4


class NotAllowed(PullError):
    """The hub asks for a token, or for one that may read this model."""
    status = 5


class LicenseNotAccepted(PullError):
    status = 6


class NotGenuine(PullError):
    """What came is not what was announced."""
    status = 7
