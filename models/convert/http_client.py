"""Fetches JSON and files over HTTP: bounded, verified, and going on where a cut connection has left off."""

import dataclasses
import datetime
import email.utils
import hashlib
import http.client
import json
import os
import pathlib
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any

from .package import hash_of
from .pull_error import NotAllowed, NotFound, NotGenuine, PullError, Unreachable

MOST_JSON = 64 << 20
TIMEOUT_SECONDS = 30
ATTEMPTS = 5              # without a single byte of progress
LONGEST_WAIT_SECONDS = 60
_PIECE = 1 << 18


@dataclasses.dataclass(frozen=True)
class RemoteFile:
    url: str
    name: str                          # in the folder that it is fetched into; may have folders of its own
    size: int | None = None
    sha256: str | None = None
    git_sha1: str | None = None        # SHA-1 of a blob of Git, as the hub has it of small files
    md5: str | None = None
    plain_sha256: str | None = None    # of a gzip file: what is in it
    plain_size: int | None = None
    most: int = MOST_JSON              # bytes, where the size is not announced

    @property
    def verified(self) -> bool:
        return any((self.sha256, self.git_sha1, self.md5, self.plain_sha256))


class _Redirects(urllib.request.HTTPRedirectHandler):
    """A token is for the host that it was given for, and nothing leads from https to another scheme."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        old, new = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
        if new.scheme not in ("http", "https") or (old.scheme == "https" and new.scheme != "https"):
            raise PullError(f"{req.full_url}: leads to {newurl}, which is not https")
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        token = req.unredirected_hdrs.get("Authorization")
        if request is not None and token and (old.scheme, old.netloc) == (new.scheme, new.netloc):
            request.add_unredirected_header("Authorization", token)
        return request


class Client:
    def __init__(self, token_base: str, announce: Callable[[str], None] = lambda text: None):
        """token_base: the only base whose requests get HF_TOKEN."""
        self._token_base, self._token = token_base, os.environ.get("HF_TOKEN", "").strip()
        if not re.fullmatch(r"[\x21-\x7e]*", self._token):
            raise NotAllowed("HF_TOKEN: has characters that no token has; set it to one of your account")
        self._offline = os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on")
        self._opener = urllib.request.build_opener(_Redirects())
        self._announce = announce

    def json(self, url: str) -> Any:
        body = self.text(url, MOST_JSON)
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise NotGenuine(f"{url}: the answer is not JSON; is it the right hub or mirror?") from error

    def text(self, url: str, limit: int) -> bytes:
        def read() -> bytes:
            with self._open(url) as response:
                return response.read(limit + 1)

        body = self._try(url, read, lambda: 0)
        if len(body) > limit:
            raise NotGenuine(f"{url}: the answer is longer than {limit} bytes")
        return body

    def download(self, file: RemoteFile, path: pathlib.Path, report: Callable[[int], None]) -> None:
        """Goes on with what is in `path`. Verifies what there is a hash for. report: bytes so far, at times."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and (file.size is None or not file.verified):
            path.unlink()   # nothing would tell that what is there belongs to another revision
        whole = self._fetch(file, path, report)
        try:
            verify(file, path)
        except NotGenuine:
            path.unlink()
            if whole:
                raise
            # The part that came earlier may be of another revision, or the page of a network that asks for a login, so the file is
            # fetched anew once.
            self._fetch(file, path, report)
            try:
                verify(file, path)
            except NotGenuine:
                path.unlink()
                raise

    def _fetch(self, file: RemoteFile, path: pathlib.Path, report: Callable[[int], None]) -> bool:
        """Returns true if the file came in one piece."""
        def position() -> int:
            return path.stat().st_size if path.exists() else 0

        if file.size is not None and position() > file.size:
            path.unlink()
        if file.size is None or position() < file.size or file.size == 0:
            return self._try(file.url, lambda: self._append(file, path, position(), report), position)
        return False

    def _append(self, file: RemoteFile, path: pathlib.Path, start: int, report: Callable[[int], None]) -> bool:
        limit = file.size if file.size is not None else file.most
        try:
            response = self._open(file.url, start)
        except urllib.error.HTTPError as error:
            if error.code == 416 and start:
                path.unlink()   # the hub's file is shorter than what is here
            raise
        with response:
            resumes = response.status == 206 and response.headers.get("Content-Range", "").startswith(f"bytes {start}-")
            if response.status == 206 and not resumes:
                path.unlink(missing_ok=True)   # so that the whole file is asked for
                raise urllib.error.URLError("the answer is another part of the file than was asked for")
            total = start if resumes else 0
            announced = response.headers.get("Content-Length")
            with open(path, "ab" if resumes else "wb") as target:
                while piece := response.read(_PIECE):
                    total += len(piece)
                    if total > limit:
                        target.close()
                        path.unlink()
                        raise NotGenuine(f"{file.url}: is longer than {limit} bytes, which is what it should have")
                    target.write(piece)
                    report(total)
        if file.size is not None:
            whole = total == file.size
        else:
            whole = announced is None or not announced.isdecimal() or total - (start if resumes else 0) == int(announced)
        if not whole:
            raise urllib.error.URLError(f"the connection ended after {total} of {limit} bytes")
        return not resumes

    def _open(self, url: str, start: int = 0):
        try:
            return self._ask(url, start)
        except (ValueError, http.client.InvalidURL) as error:
            raise PullError(f"{url}: is no address, or leads to none: {error}") from error

    def _ask(self, url: str, start: int):
        if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise PullError(f"'{url}' is no http or https address")
        if self._offline:
            raise Unreachable(f"HF_HUB_OFFLINE is set, so {url} is not fetched; unset it, or use add with files that are there")
        request = urllib.request.Request(url, headers={"User-Agent": "millrace", "Accept-Encoding": "identity"})
        if start:
            request.add_header("Range", f"bytes={start}-")
        if self._token and (url + "/").startswith(self._token_base + "/"):
            request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        response = self._opener.open(request, timeout=TIMEOUT_SECONDS)
        if (encoding := response.headers.get("Content-Encoding", "identity").lower()) != "identity":
            response.close()
            raise NotGenuine(f"{url}: comes in the Content-Encoding '{encoding}', which was not asked for; is it the right hub or mirror?")
        return response

    def _try(self, url: str, step: Callable[[], Any], position: Callable[[], int]) -> Any:
        """Tries again what may pass. position: bytes that are there; progress makes the attempts count anew."""
        failures, furthest = 0, position()
        while True:
            try:
                return step()
            except urllib.error.HTTPError as error:
                with error:
                    problem, wait = self._judge(url, error)
            except (urllib.error.URLError, TimeoutError, ConnectionError, ssl.SSLError, http.client.HTTPException) as error:
                reason = getattr(error, "reason", None) or error
                if isinstance(reason, ssl.SSLCertVerificationError):
                    raise Unreachable(f"{url}: {reason.verify_message}; SSL_CERT_FILE may name the certificates to trust") from error
                problem, wait = str(reason) or type(reason).__name__, 0.0
            failures, furthest = (0, position()) if position() > furthest else (failures + 1, furthest)
            if failures >= ATTEMPTS:
                raise Unreachable(f"{url}: {problem}; is there a network, or a proxy to name in HTTPS_PROXY? The same command goes on where it was")
            self._announce(f"{problem}; trying again")
            # The hub says how long to wait, or the pause doubles with each failure in a row.
            time.sleep(wait or 0.25 * 2 ** failures)

    def _judge(self, url: str, error: urllib.error.HTTPError) -> tuple[str, float]:
        """What an answer other than success says, and how long to wait; raises what does not pass."""
        if error.code == 401 and error.headers.get("X-Error-Code") == "RepoNotFound":
            # The hub does not tell strangers which repositories are private.
            raise NotFound(f"{url}: is not there, or may not be read by everybody; of a private model set HF_TOKEN to a token of your account")
        if error.code == 401:
            raise NotAllowed(f"{url}: needs a token; set HF_TOKEN to one of your account" if not self._token else
                             f"{url}: HF_TOKEN is not accepted; is it still valid?")
        if error.code == 403:
            raise NotAllowed(f"{url}: may not be read; accept the model's conditions on its page, then set HF_TOKEN to a token of your account")
        if error.code in (404, 410):
            raise NotFound(f"{url}: is not there")
        if error.code == 429:
            wait = _wait(error.headers.get("Retry-After", ""))
            if wait > LONGEST_WAIT_SECONDS:
                raise Unreachable(f"{url}: the hub asks to wait {wait:.0f} seconds (429); try again then")
            return f"the hub asks to wait {wait:.0f} seconds (429)", wait
        if error.code >= 500 or error.code in (408, 416):
            return f"the hub answers {error.code}", 0.0
        raise PullError(f"{url}: the hub answers {error.code} {' '.join(str(error.reason).split())}")


def _wait(told: str) -> float:
    """The seconds of Retry-After, which may name a time."""
    if told.isdecimal():
        return float(told)
    try:
        until = email.utils.parsedate_to_datetime(told)
    except ValueError:
        return 10.0
    return max(1.0, (until - datetime.datetime.now(until.tzinfo)).total_seconds())


def verify(file: RemoteFile, path: pathlib.Path) -> None:
    size = path.stat().st_size
    if file.size is not None and size != file.size:
        raise NotGenuine(f"{file.url}: has {size} bytes, {file.size} were announced")
    for expected, digest, name in ((file.sha256, hashlib.sha256(), "SHA-256"), (file.md5, hashlib.md5(usedforsecurity=False), "MD5"),
                                   (file.git_sha1, hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False), "SHA-1 of Git")):
        if expected is not None and (found := hash_of(path, digest)) != expected.lower():
            raise NotGenuine(f"{file.url}: has the {name} {found}, announced was {expected}; nothing was installed; try again later")
