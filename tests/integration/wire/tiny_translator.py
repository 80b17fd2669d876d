"""A small encoder-decoder with random weights, as a package: it knows the words of tiny.spm."""

import json
import pathlib
import shutil
import subprocess
import sys

from .paths import ROOT

sys.path += [str(ROOT), str(ROOT / "tests" / "unit" / "models" / "convert")]
from models.convert.safetensors import write_safetensors  # noqa: E402
from tiny_checkpoint import PIECES, config, state  # noqa: E402


def add(root: pathlib.Path, name: str, source: str, target: str, *codes: str) -> None:
    """Adds a model of the languages with these codes, such as eng_Latn, to a repository; requests that name no language are from
    source to target."""
    folder = root.parent / f"{name}.published"
    folder.mkdir()
    given = config("m2m_100", PIECES + 2 + len(codes)) | {"max_position_embeddings": 256}
    (folder / "config.json").write_text(json.dumps(given))
    write_safetensors(folder / "model.safetensors", state(given, scale=0.2), {})
    shutil.copy(ROOT / "tests" / "data" / "translation" / "tiny.spm", folder / "sentencepiece.bpe.model")
    (folder / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": codes}))
    subprocess.run([sys.executable, "-m", "models.convert", "seq2seq", "--models", str(root), str(folder), "--check", "none",
                    "--name", name, "--source", source, "--target", target], check=True, cwd=ROOT, capture_output=True)
