"""Files of zstd are read by the system's libzstd, and damaged ones give one message."""

import unittest
import unittest.mock

import published
from hub import compressed
from models.convert import archive, zstd_file
from repository import Adding


class Files(Adding):
    def test_files_of_zstd(self):
        published.bergamot(self.root / "pair")
        [model] = (self.root / "pair").glob("model.*")
        whole = compressed(model.read_bytes())
        model.unlink()
        packed = model.with_name(model.name + ".zst")
        for data, message in ((whole[:-9], "is no zstd file, or it is damaged: it is cut off"), (b"none", "is no zstd file, or it is damaged"),
                              (b"", "is no zstd file")):
            packed.write_bytes(data)
            self.assert_refused(self.root / "pair", message)
        packed.write_bytes(whole)
        self.assert_added(self.root / "pair", "bergamot-en-de")

    def test_without_libzstd_the_message_says_what_to_install(self):
        (self.root / "pair").mkdir()
        (self.root / "pair/model.ende.bin.zst").write_bytes(b"x")
        with unittest.mock.patch("ctypes.CDLL", side_effect=OSError):
            zstd_file._library.cache_clear()
            self.assert_refused(self.root / "pair", "install it with: apt-get install libzstd1")

    @unittest.mock.patch.object(archive, "ALWAYS_ALLOWED", 1 << 20)
    def test_bombs_are_refused(self):
        (self.root / "pair").mkdir()
        (self.root / "pair/model.ende.bin.zst").write_bytes(compressed(bytes(4 << 20)))
        self.assert_refused(self.root / "pair", "more than is allowed of a file of its size")


if __name__ == "__main__":
    unittest.main()
