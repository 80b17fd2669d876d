"""Asks a running server to load a model that was just written."""

import http.client
import json
import urllib.error
import urllib.request

from .package import ConvertError

_SECONDS = 600   # a load includes the warm-up


def load(server: str, name: str) -> None:
    """server: its HTTP address, such as http://localhost:8000."""
    url = f"{server.rstrip('/')}/v2/repository/models/{name}/load"
    # Only this machine's or an operator's own server is asked, never through a proxy.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, b"", method="POST"), timeout=_SECONDS):
            return
    except urllib.error.HTTPError as error:
        with error:
            reason = _reason(error)
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = str(getattr(error, "reason", error))
    raise ConvertError(f"{name}: is installed, but {server} does not load it: {' '.join(reason.split())}")


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        answer = json.loads(error.read(1 << 16))
        return answer["error"] if isinstance(answer["error"], str) else json.dumps(answer["error"])
    except (OSError, ValueError, KeyError, TypeError):
        return f"{error.code} {error.reason}"
