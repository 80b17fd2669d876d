"""What is cut goes on where it was; whatever is wrong with the network, the disk or the repository, one message tells the next step."""

import datetime
import email.utils
import fcntl
import os
import socket
import unittest
import unittest.mock

import published
from hub import REVISION, Hub, cut_at, status
from models.convert import http_client
from repository import API, TINY, WEIGHTS, Pulling


NOBODY = 65534


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
        for address in ("file:///etc", "127.0.0.1:80"):
            with unittest.mock.patch.dict(os.environ, {"HF_ENDPOINT": address}):
                self.assert_fails(1, f"HF_ENDPOINT: '{address}' is no http or https address", TINY)

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


if __name__ == "__main__":
    unittest.main()
