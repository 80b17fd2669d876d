"""What is available, what is installed, and what is removed."""

import json
import re
import unittest

import published
from models.convert.model_names import KNOWN
from repository import TINY, Pulling


class Shelf(Pulling):
    def test_what_is_available_and_what_is_installed(self):
        self.hub.publish_voice("en_US-joe-medium", b"x", b"x")
        for pair in ("en-de", "en-fr"):
            published.bergamot(self.root / pair)
            self.hub.publish_pair(pair, self.root / pair)
        published.bergamot_of_two(self.root / "en-zh")
        self.hub.publish_pair("en-zh", self.root / "en-zh")
        published.bergamot(self.root / "mt-en")
        self.hub.publish_attached_pair("mt-en", self.root / "mt-en")
        self.hub.publish_package("en-zt", b"x")
        self.assert_pulled("firefox/en-de", name="firefox-en-de")
        self.hub.publish("facebook/nllb-200-distilled-600M", {"config.json": b"{}", "pytorch_model.bin": b"x" * 98}, {"license": "cc-by-nc-4.0"})
        for repository in set(known.repository for known in KNOWN.values()) - set(self.hub.repositories):
            self.hub.publish(repository, {"config.json": b"{}", "model.safetensors": b"x"}, {"license": "mit"})
        self.assertEqual(self.pull("firefox/en-fr", "--as", "french")[0], 0)
        code, out, errors = self.command("available", "--json")
        self.assertEqual((code, errors), (0, ""))
        entries = {entry["name"]: entry for entry in map(json.loads, out.splitlines())}
        self.assertLess({"kokoro-82m", "kokoro-82m-zh", "piper/en_US-joe-medium", "firefox/en-de", "firefox/en-fr", "firefox/en-zh", "firefox/mt-en", "argos/en-zt"}, set(entries))
        self.assertEqual([entries[f"firefox/en-{language}"]["installed"] for language in ("de", "fr")], ["firefox-en-de", "french"])
        self.assertGreater(entries["firefox/en-de"]["bytes"], 1000)
        self.assertEqual((entries["firefox/mt-en"]["languages"], entries["firefox/mt-en"]["license"]), ("mt en", "MPL-2.0"))
        self.assertEqual({"bytes": 100, "license": "CC-BY-NC-4.0", "non_commercial": True, "installed": None}.items()
                         - entries["nllb-200-distilled-600m"].items(), set())
        _, out, _ = self.command("available", "nllb-200-distilled-600m")
        self.assertRegex(out, r"CC-BY-NC-4\.0 \(needs --license-ok\)$")
        _, out, _ = self.command("available", "fr")
        self.assertEqual([line.split()[0] for line in out.splitlines()], ["firefox/en-fr"])
        code, out, errors = self.command("available", "firefox/en-xx")
        self.assertEqual((code, out), (4, ""))
        self.assertRegex(errors, r"^millrace models --available: 'firefox/en-xx' is no part of a name, no language and no task; nearest are (firefox/en-\w\w(, )?){3}\n$")

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

    def test_a_model_is_removed_by_the_name_that_it_is_pulled_by(self):
        for pair in ("en-de", "de-en", "en-fr"):
            published.bergamot(self.root / pair, pair.replace("-", ""))
            self.hub.publish_pair(pair, self.root / pair)
        self.assertEqual(self.pull("firefox/de", "firefox/en-fr")[0], 0)
        for name, removed in (("Firefox/EN-fr/", ["firefox-en-fr"]), ("firefox/DE", ["firefox-de-en", "firefox-en-de"])):
            code, out, _ = self.command("remove", name, "--json")
            self.assertEqual((code, [json.loads(line)["name"] for line in out.splitlines()]), (0, removed))
        self.assertEqual(list(self.models.iterdir()), [])

    def test_of_two_models_that_were_pulled_by_one_name_none_is_guessed(self):
        self.publish_tiny()
        for name in ("one", "two"):
            self.assertEqual(self.pull(TINY, "--as", name)[0], 0)
        code, _, errors = self.command("remove", TINY)
        self.assertEqual((code, errors), (1, f"millrace remove: '{TINY}': one and two were pulled by this name; name the one to remove\n"))
        self.assertEqual(self.command("remove", "one")[0], 0)
        self.assertEqual(self.command("remove", TINY)[0], 0)
        self.assertEqual(list(self.models.iterdir()), [])

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
        self.assertIn("no such folder", self.command("remove", "x", "--models", str(self.root / "none"))[2])
        self.assertEqual(self.command("remove", "opus-mt-en-de")[0], 0)
        self.assertEqual([path.name for path in self.models.iterdir()], ["link"])
        self.assertTrue((self.root / "elsewhere").is_dir())


if __name__ == "__main__":
    unittest.main()
