"""What scripts/check_class_names.py says of sources that were made for it."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(root: pathlib.Path, files: dict[str, str]) -> tuple[int, str]:
    paths = [root / name for name in files]
    for path in paths:
        path.write_text(files[path.name])
    done = subprocess.run([sys.executable, ROOT / "scripts" / "check_class_names.py", *paths], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_refuses_a_class_that_is_defined_twice_in_a_namespace(tmp_path):
    code, said = check(tmp_path, {
        "markup.h": "namespace millrace::models {\nstruct MarkedText {\n  int marks;\n};\n}\n",
        "speech.h": "namespace millrace {\nnamespace models {\nclass MarkedText {\n  double pause;\n};\n}\n}\n",
    })
    assert code == 1
    assert said == f"{tmp_path}/markup.h:2: millrace::models::MarkedText is defined also in {tmp_path}/speech.h:3\n"


def test_accepts_equal_names_in_other_namespaces_and_in_files_of_their_own(tmp_path):
    assert check(tmp_path, {
        "markup.h": "namespace millrace::translation {\nstruct MarkedText {\n  int marks;\n};\n}\n",
        "speech.h": "namespace millrace::speech {\nstruct MarkedText;\nclass MarkedText {\n  double pause;\n};\n}\n",
        "first.cc": "namespace millrace {\nnamespace {\nstruct Part {\n  int a;\n};\n}\n}\n",
        "second.cc": "namespace millrace {\nnamespace {\nstruct Part {\n  double b;\n};\n}\nvoid Run() {\n  struct Part {\n  };\n}\n}\n",
    }) == (0, "")


def test_does_not_pass_when_it_sees_no_class(tmp_path):
    code, said = check(tmp_path, {"empty.h": "#pragma once\n"})
    assert code == 1
    assert "no class" in said
