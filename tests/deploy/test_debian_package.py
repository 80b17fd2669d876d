"""The Debian package: what is in it, and what it asks for. scripts/check-packages.sh runs lintian
and installs it."""

import os
import re
import shutil
import subprocess

import pytest
from daemon import BINARY, ROOT


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Not compressed, which would take a minute."""
    folder = tmp_path_factory.mktemp("package")
    made = subprocess.run([ROOT / "scripts" / "package-deb.sh", folder], capture_output=True, text=True, check=False,
                          env=os.environ | {"PACKAGE_COMPRESSION": "none"})
    assert made.returncode == 0, made.stderr
    [file] = folder.glob("*.deb")
    return file


@pytest.fixture(scope="module")
def control(package, tmp_path_factory):
    """The folder of what dpkg reads before it unpacks."""
    folder = tmp_path_factory.mktemp("control")
    subprocess.run(["dpkg-deb", "--control", package, folder / "DEBIAN"], check=True)
    return folder / "DEBIAN"


@pytest.fixture(scope="module")
def files(package):
    """The mode, the owner and the size of each file by its path."""
    listed = subprocess.run(["dpkg-deb", "--contents", package], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=5) for line in listed.splitlines()]
    return {row[5].partition(" -> ")[0].removeprefix("."): (row[0], row[1], int(row[2])) for row in rows}


@pytest.fixture(scope="module")
def unpacked(package, tmp_path_factory):
    """What the package installs, without programs and libraries, which are nearly all of its size."""
    folder = tmp_path_factory.mktemp("unpacked")
    archive = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", folder, "--exclude=./usr/lib/millrace"], stdin=archive.stdout, check=True)
    assert archive.wait() == 0
    return folder


def test_package_asks_for_the_libraries_of_the_distribution_and_not_for_its_own(control):
    fields = dict(re.findall(r"^([\w-]+): (.*)$", (control / "control").read_text(), re.MULTILINE))
    assert fields["Package"] == "millrace" and re.fullmatch(r"\d+\.\d+\.\d+-1", fields["Version"])
    depends = {name.split(" ")[0] for name in fields["Depends"].split(", ")}
    assert {"libc6", "libgrpc++1.51", "libprotobuf32", "libsndfile1", "libjemalloc2", "python3", "systemd"} <= depends
    assert not [name for name in depends if re.search(r"torch|cuda|cupti|nvidia", name)]
    assert fields["Recommends"] == "espeak-ng, python3-numpy, python3-sentencepiece, python3-yaml"
    assert 200_000 < int(fields["Installed-Size"]) < 600_000


def test_package_has_the_programs_and_only_those_libraries_that_they_load(files):
    home = "/usr/lib/millrace"
    programs = {path for path, (mode, _, _) in files.items() if mode.startswith("-rwx")}
    assert programs >= {f"{home}/bin/{program}" for program in ("millrace", "millrace-front", "millrace-server")}
    assert files["/usr/bin/millrace"][0].startswith("l")
    libraries = {path.removeprefix(home + "/lib/") for path in files if path.startswith(home + "/lib/") and ".so" in path}
    assert {"torch/lib/libtorch_cpu.so", "torch/lib/libc10.so", "nvidia/cu13/lib/libcudart.so.13"} <= libraries
    assert not [library for library in libraries if "torch_cuda" in library or "torch_python" in library]
    # Symbols and line numbers are left out: a third of the server's size is code.
    assert files[f"{home}/bin/millrace-server"][2] < BINARY.with_name("millrace-server").stat().st_size / 2
    assert all(owner == "root/root" for _, owner, _ in files.values())


def test_package_brings_pages_completions_and_licences(files):
    share = "/usr/share"
    assert {f"{share}/man/man1/millrace.1.gz", f"{share}/man/man1/millrace-serve.1.gz", f"{share}/man/man5/millrace.toml.5.gz",
            f"{share}/bash-completion/completions/millrace", f"{share}/zsh/vendor-completions/_millrace",
            f"{share}/fish/vendor_completions.d/millrace.fish", f"{share}/doc/millrace/copyright", f"{share}/doc/millrace/THIRD_PARTY.md",
            f"{share}/doc/millrace/licences/torch/LICENSE", f"{share}/doc/millrace/licences/nvidia_cuda_runtime/License.txt",
            } <= set(files)


def test_all_that_is_below_etc_is_kept_by_upgrades(control, files):
    assert set((control / "conffiles").read_text().split()) == {path for path in files if path.startswith("/etc/") and not path.endswith("/")}
    assert "/etc/millrace/millrace.toml" in (control / "conffiles").read_text()


def test_unit_starts_what_the_package_has_installed(unpacked, tmp_path):
    unit = (unpacked / "lib/systemd/system/millrace.service").read_text()
    assert "/opt/" not in unit and "DynamicUser" not in unit and "\nUser=millrace\nGroup=millrace\n" in unit
    assert re.search(r"^ExecStart=/usr/bin/millrace serve --config /etc/millrace/millrace.toml$", unit, re.MULTILINE)
    assert "ConditionDirectoryNotEmpty=/var/lib/millrace/models\n" in unit.partition("[Service]")[0]
    assert re.search(r"^u millrace ", (unpacked / "usr/lib/sysusers.d/millrace.conf").read_text(), re.MULTILINE)
    configuration = (unpacked / "etc/millrace/millrace.toml").read_text()
    assert 'models = "/var/lib/millrace/models"' in configuration and "/opt/" not in configuration
    if shutil.which("systemd-analyze"):
        # verify insists on programs and manual pages that are installed.
        copy = tmp_path / "millrace.service"
        copy.write_text(re.sub(r"^Documentation=.*\n", "", unit.replace("/usr/bin/millrace", "/bin/true"), flags=re.MULTILINE))
        verified = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True, check=False)
        assert (verified.returncode, verified.stderr) == (0, "")
        rated = subprocess.run(["systemd-analyze", "security", "--offline=true", copy], capture_output=True, text=True, check=False)
        assert float(re.search(r"exposure level for \S+: ([\d.]+)", rated.stdout)[1]) <= 2.0


def test_preinst_refuses_a_disk_that_is_too_small_and_says_how_much_it_takes(control, tmp_path):
    script = (control / "preinst").read_text()
    kib = int(re.search(r"^needed=(\d+)$", script, re.MULTILINE)[1])
    # A df of ours says what is free.
    (tmp_path / "df").write_text('#!/bin/sh\necho "Filesystem 1024-blocks Used Available"\necho "disk 9 9 $FREE"\n')
    (tmp_path / "df").chmod(0o755)

    def run(action, free):
        return subprocess.run(["sh", control / "preinst", action], capture_output=True, text=True, check=False,
                              env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "FREE": str(free)})
    assert run("install", kib).returncode == 0
    for action in ("install", "upgrade"):
        refused = run(action, 10 * 1024)
        assert refused.returncode == 1 and len(refused.stderr.splitlines()) == 1
        assert f"10 MiB free, and unpacking takes {kib // 1024} MiB" in refused.stderr
    assert run("abort-upgrade", 0).returncode == 0
