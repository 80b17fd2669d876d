"""Each route of /openapi.json is asked as its description says, and answers as it says."""

import json
import re

import pytest
from test_names import ask
from wire.polling import eventually

FORM = "multipart/form-data"
BOUNDARY = "a-boundary"
UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg=="}
# Variable parts of paths and members of bodies that only an earlier answer tells, with the route that does.
TOLD = {"name": "/translate_file", "document_id": "/v2/document", "document_key": "/v2/document", "glossary_id": "/v2/glossaries"}


@pytest.fixture(scope="module")
def paths(daemon):
    return json.loads(ask(daemon, "/openapi.json", None, "GET")[2])["paths"]


def form(example):
    """The members as parts; a file is one of text."""
    parts = [f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"'
             + (f'; filename="{value}"\r\n\r\nHello.' if name == "file" else f"\r\n\r\n{value}") for name, value in example.items()]
    return ("\r\n".join(parts) + f"\r\n--{BOUNDARY}--\r\n").encode()


def check_json(text):
    """One value, or several of a stream."""
    while text := text.strip():
        text = text[json.JSONDecoder().raw_decode(text)[1]:]


class Caller:
    """Calls routes by their description."""

    def __init__(self, daemon, paths):
        self._daemon, self._paths, self._told = daemon, paths, {}

    def call(self, method, path, parameter=None, members=None):
        """Status, headers and body of the answer. A parameter is added to the query, members to the body."""
        operation = self._paths[path][method]
        parts = {parameter["name"]: parameter.get("example") for parameter in operation.get("parameters", ())}
        place = re.sub(r"\{(\w+)\}", lambda part: parts[part[1]] or self._answered(part[1]), path)
        queries = [parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "query"]
        parameters = [f"{name}={self._answered(name)}" for name in queries] + ([parameter] if parameter else [])
        place += "?" * bool(parameters) + "&".join(parameters)
        body, headers = None, UPGRADE if "101" in operation["responses"] else {}
        for kind, content in operation.get("requestBody", {"content": {}})["content"].items():
            example = {name: self._answered(name) if name in TOLD and name != "name" else value for name, value in (content["example"] | (members or {})).items()}
            body = form(example) if kind == FORM else example
            headers = {"Content-Type": f"{kind}; boundary={BOUNDARY}" if kind == FORM else kind}
        return ask(self._daemon, place, body, method.upper(), **headers)

    def _answered(self, name):
        source = TOLD[name]
        if source not in self._told:
            self._told[source] = json.loads(self.call("post", source)[2])
            if source == "/v2/document":
                eventually("the document is translated", lambda: b'"done"' in self.call("post", f"{source}/{{document_id}}")[2])
        answer = self._told[source]
        return answer["translatedFileUrl"].rsplit("/", 1)[1] if name == "name" else answer[name]


@pytest.fixture(scope="module")
def routes(paths):
    found = [(method, path) for path, methods in paths.items() for method in methods]
    # The model that is unloaded is needed before and after.
    found.sort(key=lambda route: route[1].endswith(("/unload", "/load")))
    assert len(found) > 60
    return found


def test_every_example_is_answered_as_it_is_described(daemon, paths, routes):
    wrong = []
    for method, path in routes:
        described = paths[path][method]["responses"]
        (status,) = (int(status) for status in described if status.isdigit())
        found, headers, answer = Caller(daemon, paths).call(method, path)
        kind = headers.get_content_type() if "Content-Type" in headers else None
        expected = next(iter(described[str(status)].get("content", {None: {}})))
        if found != status or not (kind == expected or expected == "*/*" and kind):
            wrong.append(f"{method} {path}: {found} {kind}, not {status} {expected}: {answer[:200]}")
        elif kind == "application/json" and found < 300:
            check_json(answer.decode())
    assert not wrong, "\n".join(wrong)


def test_every_route_tells_of_a_parameter_that_it_does_not_know(daemon, paths, routes):
    silent = []
    for method, path in routes:
        status, headers, _ = Caller(daemon, paths).call(method, path, "unheard=of")
        if status < 300 and 'query parameters: unheard"' not in headers.get("Warning", ""):
            silent.append(f"{method} {path}: {status} {headers.get('Warning')}")
    assert not silent, "\n".join(silent)


def test_every_route_tells_of_a_member_that_it_does_not_know(daemon, paths, routes):
    silent = []
    for method, path in routes:
        if "requestBody" not in paths[path][method]:
            continue
        status, headers, _ = Caller(daemon, paths).call(method, path, members={"unheard": "of"})
        if status < 300 and 'ignored members: unheard"' not in headers.get("Warning", ""):
            silent.append(f"{method} {path}: {status} {headers.get('Warning')}")
    assert not silent, "\n".join(silent)


def test_every_route_that_takes_a_body_has_an_example(paths):
    for path, methods in paths.items():
        for method, operation in methods.items():
            assert (method == "post") == ("requestBody" in operation), path
            for content in operation.get("requestBody", {"content": {}})["content"].values():
                assert isinstance(content["example"], dict), path
