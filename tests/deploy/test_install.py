"""What `make install` puts below DESTDIR belongs together: units, settings, man pages and completions."""

import gzip
import os
import re
import shutil
import subprocess

import pytest
from daemon import BINARY, ENVIRONMENT, ROOT

PREFIX = "/srv/voice/millrace"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """All but the programs and libtorch, whose copying is a matter of the packages' tests."""
    folder = tmp_path_factory.mktemp("install")
    scripts = ROOT / "scripts"
    if not BINARY.with_name("millrace_reference").is_file():
        pytest.skip("millrace_reference is not built")
    for command in ([scripts / "install-reference.sh", f"{folder}{PREFIX}"], [scripts / "install-service.sh", PREFIX, folder]):
        subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
    return folder / PREFIX.lstrip("/")


def test_units_and_settings_name_the_prefix_and_not_the_folder_of_the_package(installed):
    files = [*sorted((installed / "lib/systemd/system").iterdir()), installed / "share/millrace/millrace.toml"]
    assert [file.name for file in files] == ["millrace-grpc.socket", "millrace-http.socket", "millrace-metrics.socket",
                                             "millrace.service", "millrace.toml"]
    text = "".join(file.read_text() for file in files)
    assert "/opt/millrace" not in text and str(installed) not in text
    assert f"ExecStart={PREFIX}/bin/millrace serve --config /etc/millrace/millrace.toml\n" in text
    assert f'models = "{PREFIX}/models"' in text
    assert (installed / "README.md").is_file()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_accepts_what_is_installed(installed, tmp_path):
    for unit in (installed / "lib/systemd/system").iterdir():
        (tmp_path / unit.name).write_text(unit.read_text().replace(f"{PREFIX}/bin/millrace", "/bin/true"))
    verified = subprocess.run(["systemd-analyze", "verify", *sorted(tmp_path.iterdir())], capture_output=True, text=True, check=False)
    assert verified.returncode == 0 and verified.stderr == ""


def test_man_pages_and_completions_are_where_their_readers_look(installed):
    for page in ("man1/millrace.1.gz", "man1/millrace-serve.1.gz", "man5/millrace.toml.5.gz"):
        assert b".TH" in gzip.decompress((installed / "share/man" / page).read_bytes())
    for shell, file in (("bash", "bash-completion/completions/millrace"), ("zsh", "zsh/vendor-completions/_millrace"),
                        ("fish", "fish/vendor_completions.d/millrace.fish")):
        printed = subprocess.run([BINARY, "completion", shell], capture_output=True, text=True, check=True, env=ENVIRONMENT).stdout
        assert (installed / "share" / file).read_text() == printed


def test_a_relative_prefix_is_refused_in_one_line(tmp_path):
    ended = subprocess.run([ROOT / "scripts/install-service.sh", "relative", tmp_path], capture_output=True, text=True, check=False, cwd=ROOT)
    assert ended.returncode != 0
    assert re.search(r"PREFIX=relative: an absolute path is needed", ended.stderr) and os.listdir(tmp_path) == []
