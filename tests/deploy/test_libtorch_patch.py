"""The tool in deploy/libtorch/patch on small trees: what it writes, what it refuses, and that a refusal, an error or a kill leaves every
file as it was. What the rules do to PyTorch's sources is in test_libtorch_rules.py."""

import errno
import fcntl
import os
import pathlib
import runpy
import shutil
import signal
import sys

import pytest
from daemon import ROOT
from line_coverage import LineCoverage

COVERAGE = LineCoverage(ROOT / "deploy" / "libtorch" / "patch")
sys.path.insert(0, str(ROOT))
for loaded in [name for name in sys.modules if name.startswith("deploy.libtorch.patch")]:
    del sys.modules[loaded]  # imported again, so that the lines of the modules themselves are seen to run
with COVERAGE:
    from deploy.libtorch.patch import transaction
    from deploy.libtorch.patch.__main__ import main
    from deploy.libtorch.patch.errors import PatchError
    from deploy.libtorch.patch.rule import Edit, Rule, State, rewrite
    from deploy.libtorch.patch.rules import RULES, TRIED_RELEASES

RELEASE = next(iter(TRIED_RELEASES))
ALPHA, BETA = "aten/alpha.mm", "aten/sub/beta.h"
FILES = {
    "version.txt": f"{RELEASE}a0\n",
    ALPHA: "// © somebody\nint cache;\nint other;\nint stream;\n",
    BETA: "struct Profiler {\n  void begin();\n};\n",
}
RULES_HERE = (
    Rule("one-cache", "Two threads share it.", ("https://example.org/1",), (Edit(ALPHA, "int cache;", "thread_local int cache; // millrace"),)),
    Rule("locks", "Nothing locks it.", (), (Edit(ALPHA, "int stream;\n", "int millrace_lock;\nint stream;\n"),
                                            Edit(BETA, "  void begin();\n", "  void begin();\n  int millrace_mutex;\n"))),
)
PATCHED = {
    **FILES,
    ALPHA: "// © somebody\nthread_local int cache; // millrace\nint other;\nint millrace_lock;\nint stream;\n",
    BETA: "struct Profiler {\n  void begin();\n  int millrace_mutex;\n};\n",
}


@pytest.fixture(autouse=True)
def watched():
    with COVERAGE:
        yield


@pytest.fixture
def tree(tmp_path) -> pathlib.Path:
    root = tmp_path / "pytorch"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / ALPHA).chmod(0o640)
    return root


def content(root: pathlib.Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}


def run(*args, rules=RULES_HERE) -> int:
    return main([str(arg) for arg in args], rules)


def refusal(capsys, *args, rules=RULES_HERE) -> str:
    capsys.readouterr()
    assert run(*args, rules=rules) == 1
    return capsys.readouterr().err


def test_apply_edits_every_file_and_revert_restores_every_byte(tree, capsys):
    assert run("apply", tree) == 0
    assert content(tree) == PATCHED
    assert (tree / ALPHA).stat().st_mode & 0o777 == 0o640
    assert capsys.readouterr().out == (f"one-cache: applied\n  {ALPHA}:2\nlocks: applied\n  {ALPHA}:4\n  {BETA}:2\n2 files changed\n")
    assert run("revert", tree) == 0
    assert content(tree) == FILES
    assert (tree / ALPHA).stat().st_mode & 0o777 == 0o640


def test_apply_and_revert_twice_change_nothing_more(tree, capsys):
    for command, expected in (("apply", PATCHED), ("revert", FILES)):
        assert run(command, tree) == 0
        before = (tree / ALPHA).stat().st_mtime_ns
        capsys.readouterr()
        assert run(command, tree) == 0
        assert capsys.readouterr().out.endswith("0 files changed\n")
        assert content(tree) == expected
        assert (tree / ALPHA).stat().st_mtime_ns == before


def test_revert_of_an_unpatched_tree_changes_nothing(tree, capsys):
    assert run("revert", tree) == 0
    assert content(tree) == FILES
    assert capsys.readouterr().out.endswith("0 files changed\n")


def test_apply_completes_a_tree_of_which_a_file_was_restored(tree, capsys):
    run("apply", tree)
    (tree / BETA).write_text(FILES[BETA])
    capsys.readouterr()
    assert run("check", tree) == 3
    assert "locks: partly applied\n" in capsys.readouterr().out
    assert run("apply", tree) == 0
    assert content(tree) == PATCHED


def test_check_tells_unpatched_from_patched_and_writes_nothing(tree, capsys):
    assert run("check", tree) == 3
    assert content(tree) == FILES
    said = capsys.readouterr().out
    assert said.startswith(f"release {RELEASE}: {TRIED_RELEASES[RELEASE]}\none-cache: not applied\n  {ALPHA}:2\n")
    assert said.endswith("not patched; all rules match\n")
    run("apply", tree)
    capsys.readouterr()
    assert run("check", tree) == 0
    assert content(tree) == PATCHED
    assert capsys.readouterr().out.endswith("patch level 1\n")


def test_edits_around_those_of_the_tool_survive_a_revert(tree):
    run("apply", tree)
    path = tree / ALPHA
    path.write_text(path.read_text() + "int mine;\n")
    assert run("revert", tree) == 0
    assert path.read_text() == FILES[ALPHA] + "int mine;\n"


@pytest.mark.parametrize("name, text, said", [
    pytest.param(ALPHA, FILES[ALPHA] + "int stream;\n", f"rule locks: {ALPHA}: its anchor occurs 2 times instead of once: int stream;", id="twice"),
    pytest.param(BETA, "struct Profiler {};\n", f"rule locks: {BETA}: neither its anchor nor its replacement occurs", id="absent"),
    pytest.param(ALPHA, PATCHED[ALPHA].replace("thread_local int cache", "thread_local long cache"),
                 f"rule one-cache: {ALPHA}: neither its anchor nor its replacement occurs", id="edited by hand"),
    pytest.param(ALPHA, FILES[ALPHA] + "thread_local int cache; // millrace\n" * 2,
                 f"rule one-cache: {ALPHA}: its replacement occurs 2 times instead of once", id="replacement twice"),
])
@pytest.mark.parametrize("command", ["apply", "check", "revert"])
def test_names_the_rule_and_the_file_that_do_not_match(tree, capsys, command, name, text, said):
    (tree / name).write_text(text)
    before = content(tree)
    error = refusal(capsys, command, tree)
    assert error.startswith(f"{command}: {said}")
    assert error.endswith("nothing was written\n")
    assert content(tree) == before


def test_names_every_rule_that_does_not_match(tree, capsys):
    (tree / ALPHA).write_text("")
    error = refusal(capsys, "apply", tree)
    assert f"rule one-cache: {ALPHA}: " in error
    assert f"rule locks: {ALPHA}: " in error


def test_refuses_a_tree_that_lacks_a_file(tree, capsys):
    (tree / BETA).unlink()
    before = content(tree)
    assert f"rule locks: {BETA}: no such file" in refusal(capsys, "apply", tree)
    assert content(tree) == before


def test_refuses_a_link_because_it_would_replace_it(tree, capsys):
    (tree / BETA).rename(tree / "elsewhere.h")
    (tree / BETA).symlink_to(tree / "elsewhere.h")
    assert f"rule locks: {BETA}: no such file" in refusal(capsys, "apply", tree)
    assert (tree / BETA).is_symlink()


def test_refuses_a_release_on_which_the_rules_were_not_tried(tree, capsys):
    (tree / "version.txt").write_text("2.15.7\n")
    before = content(tree)
    assert "release 2.15.7: the rules were tried on " in refusal(capsys, "apply", tree)
    assert content(tree) == before
    assert run("check", tree) == 3
    assert capsys.readouterr().out.startswith("release 2.15.7: the rules were not tried on it, but on ")
    assert run("apply", tree, "--untried") == 0
    assert run("revert", tree) == 0
    assert content(tree) == before


@pytest.mark.parametrize("version", [None, "", "main\n", "2.15\n"])
def test_refuses_a_folder_that_is_no_checkout(tree, capsys, version):
    (tree / "version.txt").unlink()
    if version is not None:
        (tree / "version.txt").write_text(version)
    before = content(tree)
    assert "no checkout of PyTorch" in refusal(capsys, "apply", tree)
    assert content(tree) == before


def test_refuses_what_is_no_folder(tmp_path, capsys):
    assert "not a folder" in refusal(capsys, "apply", tmp_path / "nothing")


def test_refuses_a_tree_at_which_another_run_works(tree, capsys):
    folder = os.open(tree, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        assert "another run is at work" in refusal(capsys, "apply", tree)
    finally:
        os.close(folder)
    assert content(tree) == FILES
    assert run("apply", tree) == 0


def test_refuses_rules_whose_edits_overlap(tree, capsys):
    rules = (Rule("a", "", (), (Edit(ALPHA, "cache;\nint other", "millrace-a"),)), Rule("b", "", (), (Edit(ALPHA, "other;", "millrace-b"),)))
    assert f"{ALPHA}: two edits overlap" in refusal(capsys, "apply", tree, rules=rules)
    assert content(tree) == FILES


def test_refuses_rules_that_it_could_not_take_back(tree, capsys):
    rules = (Rule("a", "", (), (Edit(ALPHA, "cache", "millrace"), Edit(ALPHA, "other", "another millrace"))),)
    assert f"{ALPHA}: the edits would not be recognised afterwards" in refusal(capsys, "apply", tree, rules=rules)
    assert content(tree) == FILES


def test_edits_are_placed_by_the_text_that_was_read():
    edits = [Edit(ALPHA, "one", "two millrace"), Edit(ALPHA, "two", "three millrace")]
    assert rewrite(b"one two", edits, State.APPLIED) == b"two millrace three millrace"


def watch_writes(root: pathlib.Path, at_write) -> None:
    """Calls at_write(number) before each operation that changes something below root. It cannot be undone: only for a child process."""
    written = 0

    def hook(event: str, args: tuple) -> None:
        nonlocal written
        writes = event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod") or event == "open" and args[1] == "wb"
        if writes and (isinstance(args[0], int) or not os.path.isabs(args[0]) or pathlib.Path(args[0]).is_relative_to(root)):
            written += 1
            at_write(written)

    sys.addaudithook(hook)


def in_child(work) -> int:
    """The exit status of a process that does the work: -9 when it was killed."""
    child = os.fork()
    if child == 0:
        sys.settrace(None)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        status = 99
        try:
            status = work()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_with_writes_watched(root: pathlib.Path, command: str, at_write) -> int:
    def work() -> int:
        watch_writes(root, at_write)
        return run(command, root)

    return in_child(work)


def kill_at(number: int):
    def at_write(written: int) -> None:
        if written == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return at_write


def refill(root: pathlib.Path, files: dict[str, str]) -> None:
    shutil.rmtree(root)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.mark.parametrize("command, before, after", [("apply", FILES, PATCHED), ("revert", PATCHED, FILES)])
def test_a_kill_at_any_write_is_repaired_by_the_next_run(tree, capsys, command, before, after):
    other = {"apply": "revert", "revert": "apply"}[command]
    kills = interrupted = 0
    while True:
        refill(tree, before)
        status = run_with_writes_watched(tree, command, kill_at(kills + 1))
        if status == 0:
            break
        assert status == -signal.SIGKILL
        kills += 1
        copy = shutil.copytree(tree, tree.with_name(f"copy-{kills}"))
        if transaction.is_interrupted(tree):
            interrupted += 1
            assert "a run was interrupted" in refusal(capsys, "check", tree)
        # Whichever command comes next makes of the tree what it would have made of an unharmed one.
        assert run(command, tree) == 0
        assert content(tree) == after
        assert run(other, copy) == 0
        assert content(copy) == before
    assert content(tree) == after
    assert kills > 10
    assert interrupted == 3  # before the first file is replaced, before the second, and before the journal is put away


def test_a_kill_at_any_write_of_a_repair_is_repaired_too(tree):
    kills = 0
    while True:
        refill(tree, FILES)
        interrupt(tree)
        status = run_with_writes_watched(tree, "apply", kill_at(kills + 1))
        if status == 0:
            break
        assert status == -signal.SIGKILL
        kills += 1
        assert run("revert", tree) == 0
        assert content(tree) == FILES
    assert kills > 15


@pytest.mark.parametrize("command, before, after", [("apply", FILES, PATCHED), ("revert", PATCHED, FILES)])
@pytest.mark.parametrize("error", [errno.EROFS, errno.ENOSPC, errno.EACCES])
def test_an_error_at_any_write_leaves_the_tree_as_it_was(tree, command, before, after, error):
    reached = tree.with_name("reached")
    refused = 0
    for number in range(1, 1000):
        def fail_once(written: int, number=number) -> None:
            if written == number:
                reached.write_text("")
                raise OSError(error, os.strerror(error))

        refill(tree, before)
        reached.unlink(missing_ok=True)
        status = run_with_writes_watched(tree, command, fail_once)
        assert status in (0, 1)
        refused += status
        # Remains of a journal that is done with are removed by the next run.
        assert {name: text for name, text in content(tree).items() if not name.startswith(transaction.ENDED)} == (before if status else after)
        if not reached.exists():
            break
    assert refused > 7


def test_an_error_is_reported_and_the_files_are_put_back(tree, capsys, monkeypatch):
    replace = os.replace

    def fail_at_the_second(source, target):
        if target == tree / BETA:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_at_the_second)
    assert "No space left on device" in refusal(capsys, "apply", tree)
    assert content(tree) == FILES


def test_a_read_only_tree_stays_as_it_is(tree):
    def always(_: int) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    assert run_with_writes_watched(tree, "apply", always) == 1
    assert content(tree) == FILES
    assert run_with_writes_watched(tree, "check", always) == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to any folder")
def test_a_tree_without_permission_to_write_stays_as_it_is(tree, capsys):
    tree.chmod(0o555)
    try:
        assert "Permission denied" in refusal(capsys, "apply", tree)
    finally:
        tree.chmod(0o755)
    assert content(tree) == FILES


def interrupt(tree: pathlib.Path) -> None:
    """Leaves the tree as a run does that was killed after the first file had been replaced."""
    def at_write(_: int) -> None:
        if (tree / ALPHA).read_text() == PATCHED[ALPHA]:
            os.kill(os.getpid(), signal.SIGKILL)

    assert run_with_writes_watched(tree, "apply", at_write) == -signal.SIGKILL
    assert transaction.is_interrupted(tree)
    assert (tree / ALPHA).read_text() == PATCHED[ALPHA] and (tree / BETA).read_text() == FILES[BETA]


def test_an_interrupted_run_is_undone_before_anything_else(tree, capsys):
    interrupt(tree)
    assert run("revert", tree) == 0
    assert capsys.readouterr().out.startswith("an earlier run was interrupted: its edits are undone first\n")
    assert content(tree) == FILES


@pytest.mark.parametrize("edit", [lambda path: path.write_text("mine"), pathlib.Path.unlink])
def test_a_file_that_was_edited_after_an_interruption_is_not_overwritten(tree, capsys, edit):
    interrupt(tree)
    edit(tree / ALPHA)
    before = content(tree)
    error = refusal(capsys, "apply", tree)
    assert "aten/alpha.mm: edited after a run was interrupted; its original is " in error
    assert content(tree) == before
    assert FILES[ALPHA] in before.values()


def test_what_could_not_be_restored_is_restored_by_the_next_run(tree, monkeypatch):
    replace = os.replace
    calls = []

    def fail_after_the_first(source, target):
        calls.append(target)
        if len(calls) > 1:
            raise OSError(errno.EIO, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_after_the_first)
    with pytest.raises(PatchError, match="could not be restored"):
        transaction.write(tree, {ALPHA: (FILES[ALPHA].encode(), PATCHED[ALPHA].encode()), BETA: (FILES[BETA].encode(), b"")})
    monkeypatch.undo()
    assert (tree / ALPHA).read_text() == PATCHED[ALPHA]
    transaction.undo(tree)
    assert content(tree) == FILES


def test_list_names_each_rule_with_its_reason(capsys):
    assert run("list") == 0
    said = capsys.readouterr().out
    assert f"one-cache\n  Two threads share it.\n    https://example.org/1\n    {ALPHA}\n" in said
    assert run("list", rules=RULES) == 0
    said = capsys.readouterr().out
    assert all(f"\n{rule.name}\n" in said for rule in RULES)


def test_runs_as_a_module(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["patch", "list"])
    monkeypatch.delitem(sys.modules, "deploy.libtorch.patch.__main__")
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("deploy.libtorch.patch", run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("patch level 1\n")


def test_every_line_of_the_tool_was_run(request):
    tests = {item.originalname for item in request.session.items if item.path == request.path}
    if len(tests) < len([name for name in globals() if name.startswith("test_")]):
        pytest.skip("only some of the tests ran")
    assert COVERAGE.missing() == []
