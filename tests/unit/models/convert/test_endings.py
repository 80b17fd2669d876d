"""However a command ends, and wherever its output goes, it leaves nothing half made, and what it says is readable."""

import contextlib
import fcntl
import io
import os
import pathlib
import signal
import subprocess
import sys
import threading
import unittest
import unittest.mock
from collections.abc import Callable, Iterator

import published
from hub import cut_at
from models.convert import pull
from models.convert.hidden_folder import hidden_folder
from models.convert.http_client import RemoteFile
from repository import TINY, WEIGHTS, Pulling

ROOT = pathlib.Path(__file__).parents[4]


class Processes(Pulling):
    def start(self, *words: object, **options) -> subprocess.Popen:
        command = [sys.executable, "-m", "models.convert", str(words[0]), "--models", self.models, *words[1:]]
        return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, **options)

    def test_nobody_reads_what_it_says(self):
        published.bergamot(self.root / "pair")
        self.publish_tiny()
        for words in (("add", self.root / "pair"), ("pull", TINY), ("pull", TINY, "--json")):
            ours, theirs = os.pipe()
            os.close(ours)
            process = self.start(*words, stdout=theirs)
            os.close(theirs)
            _, errors = process.communicate(timeout=60)
            self.assertEqual((process.returncode, errors), (1, ""), words)
            self.assertEqual(list(self.models.iterdir()) if self.models.exists() else [], [], words)

    def test_what_it_says_cannot_be_written(self):
        self.publish_tiny()
        for words in (("pull", TINY), ("pull", TINY, "--json"), ("pull", "none", "--json")):
            with open("/dev/full", "w") as full, open(os.devnull) as closed:   # which may only be read, as where it was closed
                for output, message in ((full, "standard output cannot be written: No space left on device"), (closed, "cannot be written: Bad file")):
                    process = self.start(*words, stdout=output)
                    _, errors = process.communicate(timeout=60)
                    self.assertEqual((process.returncode, errors.count("\n")), (4 if "none" in words else 1, 1), errors)
                    self.assertIn("is no model" if "none" in words else message, errors)
                    self.assertFalse(self.models.exists())

    @contextlib.contextmanager
    def hanging(self) -> Iterator[Callable[[], bool]]:
        """Yields what waits until a transfer has begun, which then hangs until the block, or the process that asked for it, ends."""
        begun, ended = threading.Event(), threading.Event()

        def hang(handler):
            cut_at(1000)(handler)
            handler.wfile.flush()
            begun.set()
            ended.wait(60)
            return True
        self.hub.faults[WEIGHTS] = [hang]
        try:
            yield lambda: self.assertTrue(begun.wait(60))
        finally:
            ended.set()

    def test_it_is_told_to_end(self):
        self.publish_tiny()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            with self.hanging() as begun:
                process = self.start("pull", TINY, stdout=subprocess.DEVNULL)
                begun()
                process.send_signal(number)
                _, errors = process.communicate(timeout=60)
            self.assertEqual((process.returncode, errors.count("\n")), (130, 1), errors)
            self.assertIn("interrupted; nothing was installed", errors)
            self.assertEqual([path.name for path in self.models.iterdir()], [".pull-opus-mt-en-de"])

    @unittest.skipUnless(sys.platform == "linux", "other systems do not tell a process of its parent's end")
    def test_who_has_started_it_is_ended(self):
        self.publish_tiny()
        with self.hanging() as begun:
            starter = ("-c", "import subprocess, sys; subprocess.run([sys.executable, *sys.argv[1:]], check=False)")
            process = subprocess.Popen([sys.executable, *starter, "-m", "models.convert", "pull", TINY, "--models", self.models, "--names-to=1"],
                                       cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            begun()
            process.kill()
            _, errors = process.communicate(timeout=60)   # until the last one that may write has ended
        self.assertIn("interrupted; nothing was installed", errors)

    def test_what_was_to_be_ignored_still_is(self):
        ended = subprocess.run(["nohup", sys.executable, "-c", "import signal\nfrom models.convert import __main__\n"
                                "__main__.main = lambda: print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)\n__main__.console()"],
                               cwd=ROOT, capture_output=True, text=True, check=False)
        self.assertEqual(ended.stdout, "True\n", ended.stderr)


class Left(Pulling):
    def test_what_killed_commands_left_is_removed_and_what_is_in_use_stays(self):
        self.models.mkdir()
        for name in (".add-killed", ".add-used", ".remove-killed"):
            (self.models / name / "unpacked").mkdir(parents=True)
        lock = os.open(self.models / ".add-used", os.O_RDONLY)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with hidden_folder(self.models, ".add-") as first, hidden_folder(self.models, ".add-") as second:
            self.assertEqual({path.name for path in self.models.iterdir()}, {".add-used", ".remove-killed", first.name, second.name})
        published.bergamot(self.root / "pair")
        self.assertEqual(self.command("add", self.root / "pair")[0], 0)
        self.assertEqual(self.command("remove", "bergamot-en-de")[0], 0)
        self.assertEqual({path.name for path in self.models.iterdir()}, {".add-used"})


class Terminals(unittest.TestCase):
    FILE = RemoteFile("http://hub/x", "model.enzh_hant.intgemm.alphas.bin.gz", size=20_000_000)

    def shown(self, columns: int, **environment: str) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as out, unittest.mock.patch.object(out, "isatty", return_value=True), \
                unittest.mock.patch.object(pull, "_REPORT_SECONDS", 0), unittest.mock.patch.object(pull, "_PLAIN_REPORT_SECONDS", 0), \
                unittest.mock.patch.dict(os.environ, {"COLUMNS": str(columns), "LINES": "24", "TERM": "xterm"} | environment):
            reporter = pull.Reporter(False)
            for done in (1_000_000, 2_000_000):
                reporter.transfer(self.FILE, done, 0)
            reporter.end_line()
        return out.getvalue()

    def test_progress_stays_on_one_line(self):
        for columns in (40, 80, 200):
            lines = self.shown(columns).split("\r\033[K")
            self.assertTrue(all(len(line.rstrip("\n")) < columns for line in lines), lines)
            self.assertRegex(lines[-1], r"2\.0 of 20\.0 MB, .* s left\n$")

    def test_a_terminal_without_control_characters_gets_plain_lines(self):
        self.assertNotIn("\033", self.shown(80, TERM="dumb"))


if __name__ == "__main__":
    unittest.main()
