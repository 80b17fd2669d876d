"""The Homebrew formula, which is not run here: that it names what the build needs and what is in the repository."""

import hashlib
import re
import subprocess

from daemon import ROOT

FORMULA = ROOT / "deploy" / "homebrew" / "millrace.rb.in"


def packages(name):
    return set((ROOT / "scripts" / "packages" / name).read_text().split())


def test_formula_depends_on_what_the_build_installs_with_brew():
    depends = dict(re.findall(r'^  depends_on "([^"]+)"( => :build)?$', FORMULA.read_text(), re.MULTILINE))
    # Python converts models and ccache speeds up a second build: neither is needed here. libtorch comes from a wheel there.
    assert set(depends) == packages("brew-serve.txt") - {"python@3.13", "ccache"} | {"pytorch"}
    assert {name for name, build in depends.items() if build} == {"cmake", "ninja", "pkg-config"}
    # brew asks for this order.
    for kind in (" => :build", ""):
        names = [name for name, build in depends.items() if build == kind]
        assert names == sorted(names)


def test_formula_installs_files_that_exist():
    text = FORMULA.read_text()
    for path in re.findall(r'"(deploy/[^"]+|docs/[^"]+)"', text):
        assert (ROOT / path).exists(), path
    assert set(re.findall(r'"reference/([^"]+)"', text)) == {
        "millrace.1", "millrace-serve.1", "millrace.toml.5", "millrace.bash", "_millrace", "millrace.fish"}


def test_release_fills_in_the_archive_and_its_hash(tmp_path):
    archive = tmp_path / "millrace-0.1.0.tar.gz"
    archive.write_bytes(b"sources")
    made = subprocess.run([ROOT / "scripts" / "write-formula.sh", archive, "https://example.org/releases"],
                          capture_output=True, text=True, check=True).stdout
    assert 'url "https://example.org/releases/millrace-0.1.0.tar.gz"' in made
    assert f'sha256 "{hashlib.sha256(b"sources").hexdigest()}"' in made
    assert not re.search(r"@[A-Z0-9]+@", made)
