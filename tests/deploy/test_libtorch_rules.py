"""What each rule of deploy/libtorch/patch does, on a miniature of PyTorch's sources that is compiled and run as it is and patched."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from daemon import ROOT
from pytorch_miniature import PROBE, RELEASE_FILE, SOURCES, SYSTEM

sys.path.insert(0, str(ROOT))
from deploy.libtorch.patch.__main__ import main  # noqa: E402
from deploy.libtorch.patch.rules import RULES  # noqa: E402

CLANG = shutil.which("clang++-14") or shutil.which("clang++")
needs_clang = pytest.mark.skipif(CLANG is None or sys.platform != "linux",
                                 reason="the miniature has its own queues and blocks: it needs clang, on a system that has neither")


def write(root: pathlib.Path) -> pathlib.Path:
    for name, text in {**RELEASE_FILE, **SOURCES, **SYSTEM, "probe.mm": PROBE}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def build(root: pathlib.Path, program: str, *flags: str) -> pathlib.Path:
    sources = [*sorted(root.rglob("*.mm")), root / "system" / "runtime.cc"]
    subprocess.run([CLANG, "-std=c++20", "-x", "c++", "-fblocks", "-O1", "-Wall", "-Wno-unused-const-variable", "-pthread", "-rdynamic", *flags,
                    f"-I{root / 'system'}", f"-I{root / 'aten' / 'src'}", *sources, "-o", root / program, "-ldl"], check=True)
    return root / program


def lines(program: pathlib.Path, *args: str, **environment: str) -> list[str]:
    done = subprocess.run([program, *args], capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def patched_tree(tmp_path_factory):
    root = write(tmp_path_factory.mktemp("patched"))
    assert main(["apply", str(root)]) == 0
    return root


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    return lines(build(write(tmp_path_factory.mktemp("stock")), "probe"))


@pytest.fixture(scope="module")
def patched_probe(patched_tree):
    return build(patched_tree, "probe")


@pytest.fixture(scope="module")
def patched(patched_probe):
    return lines(patched_probe)


def test_each_rule_has_a_reason_and_each_edit_says_whose_it_is():
    assert len({rule.name for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert len(rule.why) > 60
        assert all(link.startswith("https://github.com/pytorch/pytorch/") for link in rule.upstream)
        for edit in rule.edits:
            assert "millrace" in edit.replacement and "millrace" not in edit.anchor


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_without_one_of_its_anchors_a_rule_is_named_and_nothing_is_written(rule, tmp_path, capsys):
    for number, edit in enumerate(rule.edits):
        root = write(tmp_path / str(number))
        file = root / edit.file
        text = file.read_text()
        assert text.count(edit.anchor) == 1
        for harmed in (text.replace(edit.anchor, "edited"), text + edit.anchor):
            file.write_text(harmed)
            before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
            assert main(["apply", str(root)]) == 1
            assert f"rule {rule.name}: {edit.file}: " in capsys.readouterr().err
            assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_revert_restores_the_miniature(tmp_path):
    root = write(tmp_path)
    assert main(["apply", str(root)]) == 0
    assert main(["revert", str(root)]) == 0
    assert {name: (root / name).read_text() for name in SOURCES} == SOURCES


@needs_clang
def test_each_thread_has_caches_of_its_own_that_end_with_it(stock, patched):
    for name in ("graph", "kernel"):
        assert f"{name} cache: shared, ended 0, found again: 1" in stock
        assert f"{name} cache: own, ended 1, found again: 1" in patched


@needs_clang
def test_a_thread_with_a_stream_waits_for_that_one_and_others_for_all(stock, patched):
    everything = "stream 0 waits 1 commits 0; stream 1 waits 1 commits 0;"
    assert f"main thread synchronizes: {everything}" in stock and f"main thread synchronizes: {everything}" in patched
    assert f"worker synchronizes: {everything}" in stock
    assert "worker synchronizes: stream 0 waits 0 commits 0; stream 1 waits 1 commits 0;" in patched
    assert "worker synchronizes on its queue: stream 0 waits 0 commits 0; stream 1 waits 1 commits 0;" in patched


@needs_clang
def test_commit_goes_to_the_queue_unless_it_is_there(stock, patched):
    committed = "stream 0 waits 0 commits 0; stream 1 waits 0 commits 1;"
    assert f"worker commits on its queue: {committed}" in stock and f"worker commits on its queue: {committed}" in patched
    assert "worker commits: not on the queue" in stock
    assert f"worker commits: {committed}" in patched


@needs_clang
def test_command_buffers_are_made_on_the_queue_and_encoders_refused_elsewhere(stock, patched):
    assert "command buffer made elsewhere" in stock and "encoder 0" in stock
    assert "command buffer made on the queue" in patched and "encoder refused" in patched
    assert "encoder on the queue 1, command buffer made on the queue" in patched


@needs_clang
def test_events_and_the_profiler_use_the_stream_of_the_thread(stock, patched):
    assert "event on stream 0" in stock and "profiler uses stream 0" in stock
    assert "event on stream 1" in patched and "profiler uses stream 1" in patched


@needs_clang
def test_the_kernel_of_linear_can_be_turned_off(patched_probe, patched):
    assert "linear by kernel" in patched
    for setting, way in (("1", "graph"), ("0", "kernel"), ("", "kernel")):
        assert f"linear by {way}" in lines(patched_probe, MILLRACE_MPS_LINEAR_GRAPH=setting)


@needs_clang
def test_the_patch_level_is_exported(stock, patched):
    assert "patch level 0" in stock
    assert "patch level 1" in patched


@needs_clang
def test_threads_that_come_first_at_once_share_one_stream_and_one_profiler_without_races(patched_tree):
    program = build(patched_tree, "probe-tsan", "-g", "-fsanitize=thread")
    assert lines(program, "threads", TSAN_OPTIONS="halt_on_error=1") == [
        "streams 1 profilers 1",
        "operations runs=1600 copies=1600 bytes=12800",
        "ended: graph caches 8, kernel caches 8",
    ]
