"""The costs that the README states are those of a daemon that has just loaded the demo models."""

import os
import re

import pytest
from wire import daemon as daemons
from wire.paths import MODELS, ROOT

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="memory is read from /proc")

TOLERANCE = 0.25   # its figures have one or two digits, and packed weights differ by processor
LEAST_OF_FLOAT32 = 400e6   # bytes of packed weights


def stated(pattern):
    """A figure of the README in bytes, with the words behind it however its lines are broken."""
    text = " ".join((ROOT / "README.md").read_text().split())
    found = re.search(r"([\d.]+) GB " + pattern, text)
    assert found, f"the README has no figure for: {pattern}"
    return float(found[1]) * 1e9


def test_the_readme_states_the_disk_and_memory_of_the_demo_models(tmp_path):
    with daemons.start(tmp_path, "--workers", "2", models=MODELS, seconds=180) as daemon:
        process = f"/proc/{daemon.process.pid}"
        with open(f"{process}/status") as status:
            memory = {name: int(size) << 10 for name, size in re.findall(r"^(VmRSS|RssAnon):\s+(\d+) kB$", status.read(), re.MULTILINE)}
        with open(f"{process}/maps") as maps:
            packed = {line.split()[-1] for line in maps if re.search(r"/packed-\w+\.weights$", line)}
    files = [file for file in MODELS.rglob("*") if file.is_file() and not file.name.startswith("packed-")]
    weights = sum(map(os.path.getsize, packed))
    disk = weights + sum(file.stat().st_size for file in files)
    print(f"disk {disk / 1e6:.0f} MB, of which {weights / 1e6:.0f} MB packed weights; memory {memory['VmRSS'] / 1e6:.0f} MB, "
          f"of which {memory['RssAnon'] / 1e6:.0f} MB not mapped from files")
    if weights > LEAST_OF_FLOAT32:
        in_float32 = stated("of disk and of memory")
        assert [disk, memory["VmRSS"]] == pytest.approx([in_float32] * 2, rel=TOLERANCE)
    else:
        assert disk == pytest.approx(stated("for the demo models with the packed weights"), rel=TOLERANCE)
        assert memory["VmRSS"] == pytest.approx(stated("of memory with all five models loaded"), rel=TOLERANCE)
    assert memory["RssAnon"] == pytest.approx(stated("is not mapped from files"), rel=TOLERANCE)
