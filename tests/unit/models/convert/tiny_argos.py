"""A small package of Argos with random weights: its transformer in model.bin of CTranslate2."""

import io
import json
import pathlib
import shutil
import struct
import zipfile

import numpy as np
import sentencepiece

DATA = pathlib.Path(__file__).parents[3] / "data" / "translation"
MOSES = json.loads((DATA / "moses_golden.json").read_text(encoding="utf-8"))
DIM, HIDDEN, LAYERS, PLACES = 32, 64, 2, 256
SPECIAL = ["<unk>", "<blank>", "<s>", "</s>"]
SETTINGS = {"add_source_bos": False, "add_source_eos": False, "bos_token": "<s>", "decoder_start_token": "<s>", "eos_token": "</s>",
            "layer_norm_epsilon": None, "unk_token": "<unk>"}
_TYPES = {"float32": 0, "int8": 1, "int16": 2, "int32": 3, "float16": 4}


def words(name: str = "tiny.spm") -> list[str]:
    pieces = sentencepiece.SentencePieceProcessor(str(DATA / name))
    return SPECIAL + [piece for piece in map(pieces.id_to_piece, range(pieces.vocab_size())) if piece not in SPECIAL]


def variables(source_words: int, target_words: int, seed: int = 4) -> dict[str, np.ndarray]:
    """As the specification TransformerSpec names them. Flags are numbers without a dimension."""
    chance, found = np.random.default_rng(seed), {}

    def linear(name: str, outputs: int, inputs: int) -> None:
        found[f"{name}/weight"] = (inputs ** -0.5 * chance.normal(size=(outputs, inputs))).astype(np.float32)
        found[f"{name}/bias"] = (0.3 * chance.normal(size=outputs)).astype(np.float32)

    def norm(name: str) -> None:
        found[f"{name}/gamma"] = (1 + 0.3 * chance.normal(size=DIM)).astype(np.float32)
        found[f"{name}/beta"] = (0.3 * chance.normal(size=DIM)).astype(np.float32)

    rates = np.exp(np.arange(0, DIM, 2) * -(np.log(10000) / DIM))
    angles = np.arange(PLACES)[:, None] * rates
    places = np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(PLACES, DIM).astype(np.float32)
    for side, rows, attentions in (("encoder", source_words, ("self_attention",)), ("decoder", target_words, ("self_attention", "attention"))):
        name = f"{side}/embeddings" + ("_0" if side == "encoder" else "")
        found[f"{name}/weight"] = (0.3 * chance.normal(size=(rows, DIM))).astype(np.float32)
        found[f"{side}/position_encodings/encodings"] = places
        for layer in range(LAYERS):
            for attention in attentions:
                prefix = f"{side}/layer_{layer}/{attention}"
                for number, outputs in enumerate((3 * DIM, DIM) if attention == "self_attention" else (DIM, 2 * DIM, DIM)):
                    linear(f"{prefix}/linear_{number}", outputs, DIM)
                norm(f"{prefix}/layer_norm")
            linear(f"{side}/layer_{layer}/ffn/linear_0", HIDDEN, DIM)
            linear(f"{side}/layer_{layer}/ffn/linear_1", DIM, HIDDEN)
            norm(f"{side}/layer_{layer}/ffn/layer_norm")
        norm(f"{side}/layer_norm")
        found |= {f"{side}/num_heads": np.int16(2), f"{side}/pre_norm": np.int8(1), f"{side}/activation": np.int8(0),
                  f"{side}/scale_embeddings": np.int8(1)}
    found |= {"encoder/embeddings_merge": np.int8(0), "decoder/alignment_layer": np.int16(-1), "decoder/alignment_heads": np.int16(1),
              "decoder/start_from_zero_embedding": np.int8(0)}
    linear("decoder/projection", target_words, DIM)
    return {name: np.asarray(array) for name, array in found.items()}


def quantised(found: dict[str, np.ndarray], kind: type) -> dict[str, np.ndarray]:
    """As CTranslate2 writes int8, int16 and float16."""
    result: dict[str, np.ndarray] = {}
    for name, array in found.items():
        if kind is np.float16 and array.dtype == np.float32:
            result[name] = array.astype(np.float16)
        elif kind is not np.float16 and name.endswith("/weight"):
            greatest = np.abs(array).max(axis=1) if kind is np.int8 else np.abs(array).max()
            scale = (np.float32(127 if kind is np.int8 else 1 << 10) / greatest).astype(np.float32)
            result[name] = np.rint(array * (scale[:, None] if kind is np.int8 else scale)).astype(kind)
            result[f"{name}_scale"] = scale
        else:
            result[name] = array
    return result


def write_model(path: pathlib.Path, found: dict[str, np.ndarray], version: int = 6, revision: int = 7, aliases: dict[str, str] | None = None) -> None:
    def text(name: str) -> bytes:
        return struct.pack("<H", len(name) + 1) + name.encode() + b"\0"

    body = struct.pack("<I", version) + text("TransformerSpec") + struct.pack("<2I", revision, len(found))
    for name, array in found.items():
        body += text(name) + struct.pack("<B", array.ndim) + struct.pack(f"<{array.ndim}I", *array.shape)
        body += struct.pack("<BI", _TYPES[array.dtype.name], array.nbytes) if version >= 4 else struct.pack("<BI", array.itemsize, array.size)
        body += array.tobytes()
    body += struct.pack("<I", len(aliases or {})) + b"".join(text(alias) + text(name) for alias, name in (aliases or {}).items())
    path.write_bytes(body)


def package(folder: pathlib.Path, source: str = "en", target: str = "de", kind: type | None = None) -> None:
    """As it lies where Argos Translate has installed it."""
    (folder / "model").mkdir(parents=True)
    (folder / "stanza").mkdir()
    (folder / "stanza/resources.json").write_text("{}")
    (folder / "metadata.json").write_text(json.dumps({"package_version": "1.3", "argos_version": "1.5", "from_code": source, "from_name": "X",
                                                      "to_code": target, "to_name": "Y"}))
    shutil.copy(DATA / "tiny.spm", folder / "sentencepiece.model")
    known = words()
    found = variables(len(known), len(known))
    write_model(folder / "model/model.bin", found if kind is None else quantised(found, kind))
    (folder / "model/shared_vocabulary.json").write_text(json.dumps(known))
    (folder / "model/config.json").write_text(json.dumps(SETTINGS))


def moses_words() -> list[str]:
    """The pieces of the texts of MOSES."""
    return SPECIAL + sorted({piece for texts in MOSES["texts"].values() for text in texts for piece in text["pieces"].split()})


def moses_package(folder: pathlib.Path, source: str = "en", target: str = "fr") -> None:
    """One whose text is divided by Moses' scripts and subword-nmt."""
    package(folder, source, target)
    (folder / "sentencepiece.model").unlink()
    (folder / "bpe.model").write_text("".join(line + "\n" for line in MOSES["codes"]), encoding="utf-8")
    known = moses_words()
    write_model(folder / "model/model.bin", variables(len(known), len(known)))
    (folder / "model/shared_vocabulary.json").write_text(json.dumps(known))


def archive(folder: pathlib.Path) -> bytes:
    """The package of a folder as it is published: a zip file that holds the folder."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as members:
        for file in sorted(folder.rglob("*")):
            members.write(file, file.relative_to(folder.parent))
    return packed.getvalue()
