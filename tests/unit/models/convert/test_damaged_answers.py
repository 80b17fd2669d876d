"""One row a damaged or hostile answer of a hub: each ends in one message with the status of its kind, and leaves nothing that is installed; or the
model comes whole in spite of it."""

import gzip
import hashlib
import json
import unittest
import unittest.mock
from collections.abc import Callable

import published
from hub import REVISION, Hub, cut_at, endless, status
from models.convert import http_client
from models.convert.catalogue import PIPER_REPOSITORY
from repository import API, TINY, WEIGHTS, Pulling

RECORDS = "/v1/buckets/main/collections/translations-models-v2/records"
LARGE = f"/tiny/opus-mt-en-de/resolve/{REVISION}/pytorch_model.bin"


def answer(code: int, body: bytes = b"", **headers: str):
    """The body as it is, whatever the headers say of it."""
    def answered(handler):
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)
        return True
    return answered


def raw(data: bytes):
    def answered(handler):
        handler.wfile.write(data)
        return True
    return answered


def whole(handler) -> bytes:
    return handler.hub.paths[WEIGHTS]


def without_range(handler):
    """As a server that knows no ranges."""
    return answer(200, whole(handler), Content_Length=str(len(whole(handler))))(handler)


def other_range(handler):
    return answer(206, whole(handler)[7:], Content_Range=f"bytes 7-{len(whole(handler)) - 1}/{len(whole(handler))}")(handler)


def no_range(handler):
    return answer(206, whole(handler))(handler)


def of_another_revision(handler):
    start = int(handler.headers["Range"].removeprefix("bytes=").rstrip("-"))
    rest = b"x" * (len(whole(handler)) - start)
    return answer(206, rest, Content_Range=f"bytes {start}-{len(whole(handler)) - 1}/{len(whole(handler))}", ETag='"other"')(handler)


def compressed(handler):
    return answer(200, gzip.compress(whole(handler)), Content_Encoding="gzip")(handler)


def short(handler):
    return answer(200, whole(handler), Content_Length=str(len(whole(handler)) // 2))(handler)


HALF = cut_at(10_000)
# Each row is what the hub answers when the weights are asked for (a single answer is repeated), and how the pull ends: with the model, or with
# a status and a message.
TRANSFERS: dict[str, tuple[list, int, str]] = {
    "the range is ignored": ([HALF, without_range], 0, ""),
    "another range comes": ([HALF, other_range], 0, ""),
    "a range comes without its place": ([HALF, no_range], 0, ""),
    "the rest is of another revision": ([HALF, of_another_revision], 0, ""),
    "other ranges come without end": ([HALF, *[other_range] * 12], 3, "another part of the file than was asked for"),
    "a length that is too short": ([short] * 12, 3, "the connection ended"),
    "a file that was compressed on its way": ([compressed], 7, "comes in the Content-Encoding 'gzip'"),
    "headers without end": ([answer(200, **{f"X_{i}": "x" for i in range(200)})] * 12, 3, "got more than 100 headers"),
    "a header of a megabyte": ([answer(200, X="x" * (1 << 20))] * 12, 3, "header line"),
    "no answer of HTTP": ([raw(b"\0\1\2\n")] * 12, 3, ""),
    "nothing": ([raw(b"")] * 12, 3, "closed connection without response"),
    "chunks that lie": ([raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")] * 12, 3, ""),
    "a file without end": ([endless], 7, "is longer than"),
    "no content": ([status(204)] * 12, 3, "the connection ended after 0"),
    "a redirect to nowhere": ([status(302)], 1, "the hub answers 302"),
    "a redirect to another scheme": ([status(302, Location="data:,x")], 1, "is not allowed"),
    "a redirect to a name with line breaks": ([status(302, Location="http://127.0.0.1:1/\x1b[2J")] * 12, 3, ""),
    "a wait that is negative": ([status(429, Retry_After="-7")], 0, ""),
    "a wait that is none": ([status(429, Retry_After="soon")], 0, ""),
    "a wait of ages": ([status(429, Retry_After="9" * 400)], 3, "asks to wait inf seconds"),
}


class Transfers(Pulling):
    def test_each_ends_in_one_message_or_in_the_model(self):
        self.publish_tiny()
        for name, (faults, code, message) in TRANSFERS.items():
            with self.subTest(name):
                self.models = self.root / name
                self.hub.faults = {WEIGHTS: list(faults), LARGE: []}
                if code:
                    self.assert_fails(code, message, TINY, left=True)
                    self.assertFalse(self.models.exists() and [path for path in self.models.iterdir() if path.name[0] != "."])
                else:
                    self.assert_pulled(TINY, name="opus-mt-en-de")


def changed(**fields) -> Callable[[Hub], None]:
    """Of the list of files."""
    def change(hub: Hub) -> None:
        hub.put(API, json.loads(hub.paths[API]) | fields)
    return change


def sibling(name: str = "pytorch_model.bin", **fields) -> Callable[[Hub], None]:
    def change(hub: Hub) -> None:
        read = json.loads(hub.paths[API])
        next(entry for entry in read["siblings"] if entry["rfilename"] == name).update(fields)
        hub.put(API, read)
    return change


def body(data: bytes, path: str = API) -> Callable[[Hub], None]:
    return lambda hub: hub.put(path, data)


def rewritten(path: str, change: Callable[[bytes], bytes]) -> Callable[[Hub], None]:
    return lambda hub: hub.put(path, change(hub.paths[path]))


def registered(**fields) -> Callable[[Hub], None]:
    """Of the pair's release in Mozilla's registry."""
    def change(hub: Hub) -> None:
        read = json.loads(hub.paths["/db/models.json"])
        release = read["models"]["en-de"][0]
        release.update({name: value for name, value in fields.items() if name in release})
        for name, value in fields.items():
            if name not in release:
                release["files"][name] = {} if value is None else release["files"].get(name, {}) | value if isinstance(value, dict) else value
        hub.put("/db/models.json", read)
    return change


def records(**fields) -> Callable[[Hub], None]:
    return lambda hub: hub.put(RECORDS, {"data": [entry | fields for entry in json.loads(hub.paths[RECORDS])["data"]]})


def attached(**fields) -> Callable[[Hub], None]:
    return lambda hub: hub.put(RECORDS, {"data": [entry | {"attachment": entry["attachment"] | fields} if "attachment" in entry else entry
                                                  for entry in json.loads(hub.paths[RECORDS])["data"]]})


def voices(index) -> Callable[[Hub], None]:
    return lambda hub: hub.publish(PIPER_REPOSITORY, {"voices.json": json.dumps(index).encode()})


def argos(*packages) -> Callable[[Hub], None]:
    return lambda hub: hub.put("/argos/index.json", list(packages))


SMALL, MODEL = f"/tiny/opus-mt-en-de/resolve/{REVISION}/vocab.json", "/models/en-de/files/model.ende.intgemm.alphas.bin.gz"
PAIR, ATTACHED, VOICE, PACKAGE = "firefox/en-de", "firefox/mt-en", "piper/a", "argos/en-de"
CYCLE = {"a": {"aliases": ["b"], "files": {}}, "b": {"aliases": ["a"], "files": {}}}
FILE = {"size_bytes": 1, "md5_digest": "0" * 32}
OF_ARGOS = {"from_code": "en", "to_code": "de"}
# Each row is what the hubs answer, the name that is pulled, and how the pull ends.
INDEXES: dict[str, tuple[Callable[[Hub], None], str, int, str]] = {
    **{f"a file that is called {name!r}": (sibling(rfilename=name), TINY, 7, "would lie outside the folder")
       for name in ("../../evil.json", "/evil.json", "a/../../evil.json", "a\\b.json", "a\nb.json", "", 3)},
    **{f"a list that begins with {given[:9]!r}": (body(given), TINY, 7, "is not JSON") for given in (b"[" * 100_000, b"<html>", b"", b"\xff")},
    **{f"a list of the shape {shape}": (body(json.dumps(shape).encode()), TINY, 7, "") for shape in (
        [], {}, {"siblings": 3}, {"siblings": [3]}, {"siblings": [], "sha": "../x"})},
    **{f"weights of {large}": (sibling(lfs=large), TINY, 7, "is not what a hub says") for large in (
        {"sha256": "0" * 64, "size": -1}, {"sha256": "xx", "size": 3}, {"size": 3})},
    "weights with another byte": (rewritten(WEIGHTS, lambda data: data[:-1] + b"x"), TINY, 7, "has the SHA-256"),
    "weights with a byte more": (rewritten(WEIGHTS, lambda data: data + b"x"), TINY, 7, "is longer than"),
    "a small file that was changed": (rewritten(SMALL, lambda data: data.replace(b"w2", b"w9")), TINY, 7, "SHA-1 of Git"),
    "weights that lead to a file of this machine": (lambda hub: hub.redirect(LARGE, "file:///etc/passwd"), TINY, 1, "is not allowed"),
    "weights that lead to FTP": (lambda hub: hub.redirect(LARGE, "ftp://127.0.0.1/x"), TINY, 1, "which is not https"),
    "weights that lead in a circle": (lambda hub: hub.redirect(LARGE, hub.base + LARGE), TINY, 1, "302"),
    "a gzip file that grows": (body(gzip.compress(bytes(70 << 20)), MODEL), PAIR, 1, "more than is allowed of a file of its size"),
    "a gzip file of another one": (body(gzip.compress(b"x" * 1000), MODEL), PAIR, 7, "holds a file with the SHA-256"),
    "a gzip file that was cut": (rewritten(MODEL, lambda data: data[:-20]), PAIR, 1, "is no gzip file, or it is damaged"),
    "a gzip file that is none": (body(b"none", MODEL), PAIR, 1, "is no gzip file, or it is damaged"),
    "a voice whose name is a field": (voices({"a\nvits { }": {"files": {"a\nvits { }.onnx": {"size_bytes": 1}}}}), "piper/b", 4, "nearest are piper/a\\nvits"),
    "a list in UTF-16 that is cut": (body('{"siblings": []}'.encode("utf-16")[:-1]), TINY, 7, "is not JSON"),
    "a list that is compressed": (lambda hub: hub.put(API, gzip.compress(hub.paths[API])), TINY, 7, "is not JSON"),
    "a bomb of gzip": (body(gzip.compress(bytes(80 << 20)), "/db/models.json"), PAIR, 7, "is not JSON"),
    "a number of 5,000 digits": (body(b'{"siblings": [], "sha": ' + b"9" * 5000 + b"}"), TINY, 7, "is not JSON"),
    "a size that is no number": (sibling(lfs={"sha256": "0" * 64, "size": float("nan")}), TINY, 7, "the size nan is not what a hub says"),
    "a size of a part": (sibling(lfs={"sha256": "0" * 64, "size": 1.5}), TINY, 7, "the size 1.5 is not what a hub says"),
    "more than a disk holds": (sibling(lfs={"sha256": "0" * 64, "size": (1 << 40) - 1}), TINY, 1, "bytes are needed"),
    "a hash that is a list": (sibling(lfs={"sha256": ["0" * 64], "size": 3}), TINY, 7, "is not what a hub says"),
    "a file that is a folder too": (changed(siblings=[{"rfilename": "config.json"}, {"rfilename": "config.json/x.json"}]), TINY, 1, "has no files of a model"),
    "a name with a mark of direction": (changed(siblings=[{"rfilename": "a\u202e.json"}]), TINY, 1, "has no files of a model"),
    "voices that are each other's aliases": (voices(CYCLE), VOICE, 7, "has not one .onnx and one .json file"),
    "a voice of two networks": (voices({"a": {"files": {"x/a.onnx": FILE, "x/b.onnx": FILE, "x/a.onnx.json": FILE}}}), VOICE, 7, "has not one .onnx and one .json"),
    "a voice that lies outside": (voices({"a": {"files": {"../../a.onnx": FILE}}}), VOICE, 7, "would lie outside the folder"),
    "a voice whose files are a list": (voices({"a": {"files": ["a.onnx"]}}), VOICE, 7, "is not what a hub says"),
    "a voice whose aliases are a number": (voices({"a": {"aliases": 3, "files": {}}}), VOICE, 7, ""),
    "voices that are a list": (voices([]), VOICE, 7, "is not what a hub says"),
    "a voice with a hash that is none": (voices({"a": {"files": {"x/a.onnx": FILE | {"md5_digest": 7}}}}), VOICE, 7, "is not what a hub says"),
    "a release whose model lies outside": (registered(model={"path": "../../../etc/model.x"}), PAIR, 7, "would lie outside the folder"),
    "a release whose size is a text": (registered(model={"uncompressedSize": "12"}), PAIR, 7, "the size 12 is not what a hub says"),
    "a release whose hash is a number": (registered(model={"uncompressedHash": 12}), PAIR, 7, "is not what a hub says"),
    "a release whose model is a list": (registered(model=[1]), PAIR, 7, "is not what a hub says"),
    "a release whose path is a list": (registered(vocab={"path": ["x"]}), PAIR, 7, "would lie outside the folder"),
    "a release that is none": (registered(releaseStatus=["Release"]), PAIR, 4, "Mozilla has no release of this pair yet"),
    "two files of one name": (registered(vocab={"path": "models/en-de/files/model.ende.intgemm.alphas.bin.gz"}), PAIR, 7, ""),
    "records whose sizes are texts": (records(decompressedSize="x"), PAIR, 7, "the size x is not what a hub says"),
    "records that are a number": (lambda hub: hub.put(RECORDS, {"data": 3}), PAIR, 7, "has no list of records"),
    "an attachment that lies outside": (attached(location="../../x"), ATTACHED, 7, "would lie outside the folder"),
    "an attachment whose name lies outside": (attached(filename="/etc/model.x.bin.zst"), ATTACHED, 7, "would lie outside the folder"),
    "an attachment whose hash is a number": (attached(hash=7), ATTACHED, 7, "is not what a hub says"),
    "an attachment with another hash": (attached(hash="0" * 64), ATTACHED, 7, "has the SHA-256"),
    "an attachment that is shorter than it says": (attached(size=3), ATTACHED, 7, "is longer than 3 bytes"),
    "an attachment that holds another file": (records(decompressedHash="0" * 64), ATTACHED, 7, "holds a file with the SHA-256"),
    "an attachment without a place": (attached(location=None), ATTACHED, 7, "would lie outside the folder"),
    "records without attachments": (records(attachment=[]), ATTACHED, 4, "is no pair of Mozilla's"),
    "records of languages that are none": (records(sourceLanguage="../x"), ATTACHED, 4, "is no pair of Mozilla's"),
    "a package at an address that is none": (argos(OF_ARGOS | {"links": ["http://[::1"]}), PACKAGE, 1, "is no address, or leads to none"),
    "a package of this machine's files": (argos(OF_ARGOS | {"links": ["file:///etc/passwd"]}), PACKAGE, 7, "names no https address"),
    "a package whose links are a text": (argos(OF_ARGOS | {"links": "http://127.0.0.1:1/x"}), PACKAGE, 7, "names no https address"),
    "packages that are numbers": (argos(1, None, [], {"from_code": ["en"]}), PACKAGE, 4, "is no pair of Argos'"),
}


class Indexes(Pulling):
    def test_each_ends_in_one_message(self):
        self.publish_tiny()
        published.bergamot(self.root / "ende")
        self.hub.publish_pair("en-de", self.root / "ende")
        published.bergamot(self.root / "mten", "mten")
        self.hub.publish_attached_pair("mt-en", self.root / "mten")
        told = dict(self.hub.paths)
        for name, (change, asked, code, message) in INDEXES.items():
            with self.subTest(name):
                self.hub.paths = dict(told)
                change(self.hub)
                self.assert_fails(code, message, asked)

    def test_a_voice_that_differs_from_its_index(self):
        self.hub.publish_voice("xx_XX-a-low", b"onnx", b"{}")
        index = f"/rhasspy/piper-voices/resolve/{REVISION}/voices.json"
        self.hub.put(index, self.hub.paths[index].replace(hashlib.md5(b"{}").hexdigest().encode(), b"0" * 32))
        self.assert_fails(7, "has the MD5", "piper/xx_XX-a-low")
        # Files that the hub's list does not have are verified by the index alone.
        api = "/api/models/rhasspy/piper-voices/revision/main"
        self.hub.put(api, {**json.loads(self.hub.paths[api]), "siblings": []})
        _, out, _ = self.pull("piper/xx_XX-a-low")
        self.assertIn("only an MD5 is published of xx_XX-a-low.onnx.json", out)

    def test_a_list_without_end(self):
        self.hub.faults[API] = [endless]
        with unittest.mock.patch.object(http_client, "MOST_JSON", 1 << 20):
            self.assert_fails(7, "is longer than 1048576 bytes", TINY)

    def test_what_a_hub_says_stays_in_its_field(self):
        self.publish_tiny()
        changed(cardData={"license": 'x"\nvits {}'})(self.hub)
        self.assertIn('license: "NOASSERTION"', self.assert_pulled(TINY, name="opus-mt-en-de"))

    def test_hashes_may_be_in_capitals(self):
        self.publish_tiny()
        read = json.loads(self.hub.paths[API])
        for entry in read["siblings"]:
            entry["blobId"] = entry["blobId"].upper()
            if "lfs" in entry:
                entry["lfs"]["sha256"] = entry["lfs"]["sha256"].upper()
        self.hub.put(API, read)
        self.assert_pulled(TINY, name="opus-mt-en-de")

    def test_what_a_hub_says_is_no_order_to_a_terminal(self):
        published.bergamot(self.root / "ende")
        self.hub.publish_pair("en-de", self.root / "ende", version="3.0\x1b[2J\nfirefox-en-de: installed")
        code, out, _ = self.pull("firefox/en-de")
        self.assertEqual(code, 0)
        self.assertIn("revision 3.0?[2J?firefox-en-de", out)


if __name__ == "__main__":
    unittest.main()
