"""Requests over HTTP/1.1, each on a connection of its own."""

import contextlib
import http.client
import json

from .paths import VOICE
from .requests import PATIENCE


def send(daemon, method, path, body=None, content_type=None, **headers):
    """Status, headers and body of the answer. A body that is not bytes goes out as JSON, and underscores in names of headers as hyphens."""
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    headers = ({"Content-Type": content_type} if content_type else {}) | {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", daemon.ports["http"], timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request(method, path, body, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


def ask(daemon, method, path, body=b"", content_type="application/json", **headers):
    """Status, headers and what the answer's JSON holds."""
    status, answered, answer = send(daemon, method, path, body, content_type, **headers)
    return status, answered, json.loads(answer or b"null")


def post(daemon, path, body, content_type="application/json", **headers):
    return ask(daemon, "POST", path, body, content_type, **headers)


def spoken(daemon, text, **members):
    """The samples of a text, 16 bits each, by OpenAI's API."""
    body = {"model": VOICE, "input": text, "response_format": "pcm", "sample_rate": 22050} | members
    status, _, audio = send(daemon, "POST", "/v1/audio/speech", body, "application/json")
    assert status == 200, audio
    return audio
