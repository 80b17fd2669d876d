"""Pairs of Bergamot: how they are run before they are written, and what is written of their settings."""

import shutil
import tracemalloc
import unittest

import published
from models.convert.bergamot import read_model, run_alone
from models.convert.bergamot_pair import find_pair
from models.convert.safetensors import read_safetensors
from repository import Adding
from tiny_marian import write_bin


class Pairs(Adding):
    def test_a_pair_is_run_in_less_memory_than_its_file(self):
        """All of its matrices at once would take four times that in float32."""
        (folder := self.root / "pair").mkdir()
        write_bin(model := folder / "model.ende.bin", published.bergamot_arrays(256, 1536, 6, 2), published.BERGAMOT_SETTINGS, 20)
        shutil.copy(published.DATA / "tiny.spm", folder / "vocab.ende.spm")
        pair = find_pair(folder)
        read = read_model(pair)
        tracemalloc.start()
        try:
            run_alone(read, pair)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        self.assertLess(most, model.stat().st_size)

    def test_heads_are_as_the_settings_say(self):
        published.bergamot(self.root / "pair", settings=published.BERGAMOT_SETTINGS | {"transformer-heads": "4"})
        self.assert_added(self.root / "pair", "bergamot-en-de")
        self.assertEqual(read_safetensors(self.models / "bergamot-en-de/1/weights.safetensors")["heads"].tolist(), [4])
        published.bergamot(self.root / "usual")
        self.assertEqual(self.add(self.root / "usual", "--force")[0], 0)
        self.assertNotIn("heads", read_safetensors(self.models / "bergamot-en-de/1/weights.safetensors"))


if __name__ == "__main__":
    unittest.main()
