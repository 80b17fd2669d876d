"""What int8 and bfloat16 cost: a package's translations in each precision beside those in float32, by the real daemon.

Prints chrF and the share of texts that are the same; with --expected also chrF to these. Needs the packages of requirements.txt.
"""

import argparse
import pathlib
import re
import shutil
import sys
import tempfile

import sacrebleu

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "integration"))
from wire import daemon as daemons  # noqa: E402
from wire.requests import translate_request  # noqa: E402

_PRECISIONS = ("float32", "bfloat16", "int8")
_TEXTS_A_REQUEST = 25


def copy_package(package: pathlib.Path, root: pathlib.Path, precision: str, beam: int) -> None:
    folder = root / precision / "1"
    shutil.copytree(package, folder)
    config = re.sub(r"^\s*(precision|beam_size):.*\n", "", (folder / "model.pbtxt").read_text(), flags=re.MULTILINE)
    config = config.replace("seq2seq {", f"seq2seq {{\n  precision: PRECISION_{precision.upper()}\n  beam_size: {beam}")
    (folder / "model.pbtxt").write_text(config)


def translate(daemon: daemons.Daemon, model: str, texts: list[str]) -> list[str]:
    found = []
    for first in range(0, len(texts), _TEXTS_A_REQUEST):
        answer = daemon.translation.Translate(translate_request(*texts[first:first + _TEXTS_A_REQUEST], model=model), timeout=120)
        found += [translation.text for translation in answer.translations]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=pathlib.Path, help="a version's folder of a seq2seq model, such as var/models/cipher/1")
    parser.add_argument("texts", type=pathlib.Path, help="a sentence a line")
    parser.add_argument("--expected", type=pathlib.Path, help="their translations, a line each")
    args = parser.parse_args()
    texts = args.texts.read_text().splitlines()
    expected = args.expected.read_text().splitlines() if args.expected else None
    print("| Precision | Beam | chrF to float32 | Texts as in float32 |" + (" chrF to what is right |" if expected else ""))
    print("|---|---|---|---|" + ("---|" if expected else ""))
    for beam in (1, 4):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for precision in _PRECISIONS:
                copy_package(args.package, root / "models", precision, beam)
            with daemons.start(root, models=root / "models") as daemon:
                found = {precision: translate(daemon, precision, texts) for precision in _PRECISIONS}
        for precision in _PRECISIONS:
            score = sacrebleu.corpus_chrf(found[precision], [found["float32"]]).score
            same = sum(a == b for a, b in zip(found[precision], found["float32"], strict=True))
            line = f"| {precision} | {beam} | {score:.2f} | {same} of {len(texts)} |"
            if expected:
                line += f" {sacrebleu.corpus_chrf(found[precision], [expected]).score:.2f} |"
            print(line, flush=True)


if __name__ == "__main__":
    main()
