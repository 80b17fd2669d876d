"""A hub in miniature on loopback: the addresses, shapes and redirects of the public ones, and faults on demand."""

import contextlib
import ctypes
import gzip
import hashlib
import http.server
import json
import pathlib
import threading
import urllib.parse
from collections.abc import Callable

REVISION = "0123456789abcdef0123456789abcdef01234567"


def compressed(data: bytes) -> bytes:
    """A zstd file."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compressBound.argtypes, library.ZSTD_compressBound.restype = [ctypes.c_size_t], ctypes.c_size_t
    library.ZSTD_compress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    library.ZSTD_compress.restype = ctypes.c_size_t
    packed = ctypes.create_string_buffer(library.ZSTD_compressBound(len(data)))
    size = library.ZSTD_compress(packed, len(packed), data, len(data), 1)
    return packed.raw[:size]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Hub:
    def __init__(self):
        self.paths: dict[str, bytes] = {}                              # what is served
        self.requests: list[tuple[str, dict[str, str]]] = []           # path and headers, in order
        self.faults: dict[str, list[Callable[["_Handler"], bool]]] = {}   # by path; each is for one request; True: it answered
        self.repositories: dict[str, dict] = {}
        hub = self

        class Handler(_Handler):
            pass

        Handler.hub = hub
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.base = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def environment(self) -> dict[str, str]:
        return {"HF_ENDPOINT": self.base, "MILLRACE_FIREFOX_REGISTRY": self.base, "MILLRACE_FIREFOX_SETTINGS": f"{self.base}/v1",
                "MILLRACE_FIREFOX_ATTACHMENTS": f"{self.base}/attachments",
                "MILLRACE_ARGOS_INDEX": f"{self.base}/argos"}

    def put(self, path: str, data: bytes | dict | list) -> None:
        self.paths[path] = data if isinstance(data, bytes) else json.dumps(data).encode()

    def publish(self, repository: str, files: dict[str, bytes], card: dict | None = None) -> None:
        """As the hub has it: small files are blobs of Git, weights lie behind a redirect."""
        siblings = []
        for name, data in files.items():
            entry = {"rfilename": name, "size": len(data)}
            if name.endswith((".json", ".txt", "MODEL_CARD")):
                entry["blobId"] = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
                self.put(f"/{repository}/resolve/{REVISION}/{name}", data)
            else:
                entry |= {"blobId": "0" * 40, "lfs": {"sha256": sha256(data), "size": len(data), "pointerSize": 134}}
                self.put(f"/lfs/{repository}/{name}", data)
                self.redirect(f"/{repository}/resolve/{REVISION}/{name}", f"{self.base}/lfs/{repository}/{name}")
            siblings.append(entry)
        answer = {"id": repository, "sha": REVISION, "siblings": siblings, "cardData": card or {}}
        self.repositories[repository] = answer
        self.put("/api/models", [{"id": name} for name in self.repositories])
        for revision in ("main", REVISION):
            self.put(f"/api/models/{repository}/revision/{revision}", answer)

    def publish_folder(self, repository: str, folder: pathlib.Path, card: dict | None = None) -> None:
        self.publish(repository, {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}, card)

    def publish_voice(self, key: str, onnx: bytes, config: bytes, aliases: tuple[str, ...] = (), card: bytes = b"* License: CC0-1.0\n") -> None:
        folder = f"xx/{key}"
        files = {f"{folder}/{key}.onnx": onnx, f"{folder}/{key}.onnx.json": config, f"{folder}/MODEL_CARD": card}
        index = {key: {"key": key, "aliases": list(aliases), "files": {
            name: {"size_bytes": len(data), "md5_digest": hashlib.md5(data).hexdigest()} for name, data in files.items()}}}
        self.publish("rhasspy/piper-voices", {**files, "voices.json": json.dumps(index).encode()})

    def publish_pair(self, pair: str, folder: pathlib.Path, recorded: bool = True, version: str = "3.0", status: str = "Release",
                     folder_of_files: str = "files", firefox: str = "") -> None:
        """A release of the registry, and the records by which Firefox verifies its files. firefox: its tags, where they are others."""
        source, target = firefox.split() or pair.split("-")
        files, records = {}, []
        for file in sorted(folder.iterdir()):
            kind = file.name.split(".")[0]
            path = f"models/{pair}/{folder_of_files}/{file.name}.gz"
            self.put("/" + path, gzip.compress(file.read_bytes(), 1, mtime=0))
            entry = {"path": path}
            if kind == "model":
                entry |= {"uncompressedSize": file.stat().st_size, "uncompressedHash": sha256(file.read_bytes())}
            files[{"lex": "lexicalShortlist", "srcvocab": "srcVocab", "trgvocab": "trgVocab"}.get(kind, kind)] = entry
            records.append({"fileType": kind, "sourceLanguage": source, "targetLanguage": target, "version": version, "architecture": "tiny",
                            "decompressedHash": sha256(file.read_bytes()), "decompressedSize": file.stat().st_size})
        known = json.loads(self.paths.get("/db/models.json", b'{"models": {}}'))
        known["models"][pair] = [{"architecture": "tiny", "releaseStatus": status, "sourceLanguage": source, "targetLanguage": target,
                                  "files": files}]
        self.put("/db/models.json", known)
        path = "/v1/buckets/main/collections/translations-models-v2/records"
        data = json.loads(self.paths.get(path, b'{"data": []}'))["data"]
        self.put(path, {"data": data + (records if recorded else [])})

    def publish_attached_pair(self, pair: str, folder: pathlib.Path, version: str = "3.0", **fields: object) -> None:
        """One that only Firefox has: records with files in zstd."""
        path = "/v1/buckets/main/collections/translations-models-v2/records"
        records = json.loads(self.paths.get(path, b'{"data": []}'))["data"]
        source, _, target = pair.partition("-")
        for file in sorted(folder.iterdir()):
            packed, place = compressed(file.read_bytes()), f"main-workspace/translations-models-v2/{version}-{pair}-{file.name}.zst"
            self.put(f"/attachments/{place}", packed)
            records.append({"fileType": file.name.split(".")[0], "sourceLanguage": source, "targetLanguage": target, "version": version,
                            "architecture": "tiny", "filter_expression": "", "decompressedHash": sha256(file.read_bytes()),
                            "decompressedSize": file.stat().st_size,
                            "attachment": {"filename": f"{file.name}.zst", "location": place, "hash": sha256(packed), "size": len(packed),
                                           "mimetype": "application/zstd"}} | fields)
        self.put(path, {"data": records})
        self.paths.setdefault("/db/models.json", b'{"models": {}}')

    def publish_package(self, pair: str, archive: bytes, version: str = "1.3") -> None:
        """Of Argos: an entry of the index, with links to where the archive is."""
        source, target = pair.split("-")
        name = f"translate-{source}_{target}-{version.replace('.', '_')}.argosmodel"
        self.put(f"/v1/{name}", archive)
        index = json.loads(self.paths.get("/argos/index.json", b"[]"))
        self.put("/argos/index.json", [*index, {"package_version": version, "argos_version": "1.5", "from_code": source, "from_name": "X",
                                                "to_code": target, "to_name": "Y", "code": f"translate-{source}_{target}",
                                                "links": ["ipfs://xyz", f"{self.base}/v1/{name}"]}])

    def redirect(self, path: str, to: str) -> None:
        self.paths[path] = b"->" + to.encode()


class _Handler(http.server.BaseHTTPRequestHandler):
    hub: Hub

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        self.hub.requests.append((path, dict(self.headers)))
        faults = self.hub.faults.get(path)
        with contextlib.suppress(ConnectionError):
            if not (faults and faults.pop(0)(self)):
                self.answer(self.hub.paths.get(path))

    def answer(self, data: bytes | None, cut: int | None = None) -> None:
        """cut: bytes after which the connection ends."""
        if data is None:
            self.send_error(404)
            return
        if data.startswith(b"->"):
            self.send_response(302)
            self.send_header("Location", data[2:].decode())
            self.end_headers()
            return
        start = 0
        if given := self.headers.get("Range"):
            start = int(given.removeprefix("bytes=").rstrip("-"))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        self.wfile.write(data[start:cut])


def status(code: int, **headers: str) -> Callable[[_Handler], bool]:
    def answer(handler: _Handler) -> bool:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return True
    return answer


def cut_at(position: int) -> Callable[[_Handler], bool]:
    def answer(handler: _Handler) -> bool:
        handler.answer(handler.hub.paths[urllib.parse.urlsplit(handler.path).path], position)
        return True
    return answer


def endless(handler: _Handler) -> bool:
    handler.send_response(200)
    handler.end_headers()
    piece = bytes(1 << 16)
    with contextlib.suppress(OSError):
        for _ in range(1 << 12):
            handler.wfile.write(piece)
    return True
