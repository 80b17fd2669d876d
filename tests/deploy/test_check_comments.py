"""What scripts/check_comments.py says of trees of sources that were made for it."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(root: pathlib.Path, name: str, text: str) -> tuple[int, str]:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    done = subprocess.run([sys.executable, ROOT / "scripts" / "check_comments.py", root], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize("word", ["Of", "That", "Those", "Whether", "What", "Whoever", "Who"])
def test_refuses_a_comment_that_begins_without_a_subject(tmp_path, word):
    code, said = check(tmp_path, "models/core/model.h", f"#pragma once\n\n// {word} the model has.\nstruct Model;\n")
    assert code == 1
    assert said == f"models/core/model.h:3: begins without a subject: {word} the model has.\n"


@pytest.mark.parametrize("name", ["proto/millrace/v1/admin.proto", "mps_runtime/a.inl", "server/rpc/a.cc", "tests/unit/a_test.cc"])
def test_refuses_it_in_every_folder(tmp_path, name):
    code, said = check(tmp_path, name, "struct M {\n  // Of the model.\n};\n")
    assert code == 1
    assert said.startswith(f"{name}:2: ")


def test_refuses_it_behind_code_and_below_code_that_has_a_comment(tmp_path):
    code, said = check(tmp_path, "server/server.h", "int a;  // What it costs.\n// Those of the server.\nint b;\n")
    assert code == 1
    assert [line.split(": ")[0] for line in said.splitlines()] == ["server/server.h:1", "server/server.h:2"]


@pytest.mark.parametrize("word", ["of", "that", "those", "whether", "what", "whoever", "who", "whose", "which"])
def test_refuses_small_letters_behind_code(tmp_path, word):
    text = f"int rows = 0;  // {word} the model has\n// {word} goes on\nint b;  // the rows {word} are left\n                // {word} it has\n"
    code, said = check(tmp_path, "models/core/model.h", text)
    assert code == 1
    assert said == f"models/core/model.h:1: begins without a subject: {word} the model has\n"


def test_accepts_a_line_that_goes_on_with_a_sentence(tmp_path):
    text = ("// The tasks of the\n// Of department.\n"
            "int a;  // the number of models, which is that\n        // Of the server.\n")
    assert check(tmp_path, "server/server.h", text) == (0, "")


def test_accepts_other_words_and_literals(tmp_path):
    text = '// Often called.\n// Returns what it costs.\nconst char* a = "http:// Of";\nchar b = \'"\';  // the quote\nchar c = \'"\';\n'
    assert check(tmp_path, "mps_runtime/base/text.cc", text) == (0, "")


def test_looks_at_no_other_folders_but_insists_on_sources(tmp_path):
    code, said = check(tmp_path, "third_party/other.h", "// Of others.\n")
    assert code == 1
    assert "no sources" in said
