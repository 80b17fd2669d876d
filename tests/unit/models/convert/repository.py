"""A repository of its own for each test, in which the commands run in this process; and a hub for those that pull."""

import contextlib
import io
import os
import pathlib
import tempfile
import unittest
import unittest.mock

import published
from hub import Hub
from models.convert import http_client
from models.convert.__main__ import main

TINY = "hf:tiny/opus-mt-en-de"
WEIGHTS = "/lfs/tiny/opus-mt-en-de/pytorch_model.bin"
API = "/api/models/tiny/opus-mt-en-de/revision/main"


class Repository(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        self.models = self.root / "models"

    def command(self, *words: object) -> tuple[int, str, str]:
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as errors:
            code = main([str(words[0]), "--models", str(self.models), *map(str, words[1:])])
        return code, out.getvalue(), errors.getvalue()

    def config(self, name: str) -> str:
        self.assertEqual([path.name for path in self.models.iterdir()], [name])   # nothing hidden is left
        return (self.models / name / "1" / "model.pbtxt").read_text()


class Adding(Repository):
    def add(self, path, *options: str) -> tuple[int, str]:
        code, _, errors = self.command("add", path, *options)
        return code, errors

    def assert_added(self, path, name: str, *options: str) -> str:
        self.assertEqual(self.add(path, *options), (0, ""))
        return self.config(name)

    def assert_refused(self, path, message: str, *options: str) -> None:
        status, error = self.add(path, *options)
        self.assertEqual(status, 1, error)
        self.assertIn(message, error)
        self.assertEqual(error.count("\n"), 1, error)
        self.assertFalse(self.models.exists())


class Pulling(Repository):
    def setUp(self):
        super().setUp()
        self.hub = Hub()
        self.addCleanup(self.hub.close)
        environment = {name: value for name, value in os.environ.items() if not name.lower().startswith("hf_") and "proxy" not in name.lower()}
        patch = unittest.mock.patch.dict(os.environ, environment | self.hub.environment, clear=True)
        patch.start()
        self.addCleanup(patch.stop)
        self.sleeps: list[float] = []
        sleep = unittest.mock.patch.object(http_client.time, "sleep", self.sleeps.append)
        sleep.start()
        self.addCleanup(sleep.stop)

    def pull(self, *words: str) -> tuple[int, str, str]:
        return self.command("pull", *words)

    def assert_pulled(self, *words: str, name: str) -> str:
        code, _, errors = self.pull(*words)
        self.assertEqual((code, errors), (0, ""))
        return self.config(name)

    def assert_fails(self, code: int, message: str, *words: str, left: bool = False) -> None:
        found, _, errors = self.pull(*words)
        self.assertEqual(found, code, errors)
        self.assertIn(message, errors)
        self.assertEqual(errors.count("\n"), 1, errors)
        if not left:
            self.assertFalse(self.models.exists())

    def publish_tiny(self) -> None:
        published.marian(self.root / "tiny")
        self.hub.publish_folder("tiny/opus-mt-en-de", self.root / "tiny", {"license": "apache-2.0"})
