"""The commands of the binary that are neither `serve` nor its clients: what they print, where, and their exit status."""

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tomllib

import pytest
from wire import repository
from wire.daemon import err, out, run
from wire.paths import BINARY, EN_PT, MODELS, NULL, ROOT, SELFTEST_ON_MPS_STANDIN, SERVER_PROGRAM, VOICE


@pytest.mark.parametrize("arguments", [["version"], ["--version"]])
def test_version_names_the_libtorch_that_was_loaded(arguments):
    ended = run(*arguments)
    assert (ended.returncode, err(ended)) == (0, "")
    assert re.match(r"millrace \d+\.\d+\.\d+\nlibtorch \d+\.\d+", out(ended))
    assert "libtorch_cpu" in out(ended)
    assert re.search(r"\nkernels for the CPU: (portable|avx2|avxvnni|avx512|amx|neon)\n$", out(ended))


def test_the_front_ends_of_the_build_are_named():
    listed = re.findall(r"^MILLRACE_FRONTEND\((\w+)\)$", (ROOT / "server/frontends/frontends.inc").read_text(), re.MULTILINE)
    names = ", ".join(listed)
    assert len(listed) > 10 and f"\nfront ends: {names}\n" in out(run("version"))
    assert f"Front ends of this build: {names}" in " ".join(out(run("serve", "--help")).split())


@pytest.mark.parametrize("arguments", [["version"], ["--help"], ["serve", "--print-config"], ["completion", "bash"], ["selftest", "--list"]])
def test_output_that_cannot_be_written_is_a_failure(arguments):
    with open("/dev/full", "wb") as full:
        ended = subprocess.run([BINARY, *arguments], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert (ended.returncode, err(ended)) == (1, "millrace: standard output cannot be written\n")


# --- hash-key ---

def test_hash_key_prints_the_line_on_one_stream_and_a_new_key_on_the_other():
    first, second = run("hash-key", "alice"), run("hash-key", "alice", "--role", "admin")
    assert first.returncode == second.returncode == 0
    assert re.fullmatch(r"alice:user:[0-9a-f]{64}\n", out(first)) and re.fullmatch(r"alice:admin:[0-9a-f]{64}\n", out(second))
    keys = {err(ended).split()[-1] for ended in (first, second)}
    assert len(keys) == 2 and all(len(key) >= 40 for key in keys)


def test_hash_key_fails_where_nobody_sees_the_key():
    with open("/dev/full", "wb") as full:
        ended = subprocess.run([BINARY, "hash-key", "alice"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=full, timeout=60,
                               check=False)
    assert (ended.returncode, out(ended)) == (1, "")


@pytest.mark.parametrize("arguments, status, words", [
    (["with space"], 2, "name: 'with space' is not allowed"), (["alice", "--role", "king"], 2, "king"), ([], 2, "name"), (["alice", "--stdin"], 1, "no key")])
def test_hash_key_refuses(arguments, status, words):
    ended = run("hash-key", *arguments)
    assert (ended.returncode, out(ended)) == (status, "") and words in err(ended)


def test_hash_key_makes_a_file_for_its_owner_alone(tmp_path):
    keys = tmp_path / "api-keys"
    for name in ("alice", "bob"):
        ended = run("hash-key", name, "--append", keys, under=("sh", "-c", 'umask 0; exec "$@"', "sh"))
        assert (ended.returncode, out(ended)) == (0, "") and len(err(ended).split()[-1]) >= 40
    assert keys.stat().st_mode & 0o777 == 0o600
    assert [line.split(":")[0] for line in keys.read_text().splitlines()] == ["alice", "bob"]
    keys.chmod(0o644)
    ended = run("hash-key", "eve", "--append", keys)
    assert (ended.returncode, out(ended)) == (1, "") and "0644" in err(ended) and "chmod 600" in err(ended)
    assert "eve" not in keys.read_text()


# --- check and print-config ---

def test_check_of_what_would_start(tmp_path):
    ended = run("check", "--models", repository.link(tmp_path / "models", NULL, EN_PT, VOICE))
    assert ended.returncode == 0
    [note] = [line for line in out(ended).splitlines() if not line.startswith("ok ")]
    assert note.startswith("note    AdminService is open: every user of this machine")
    lines = [line for line in out(ended).splitlines() if line != note]
    assert sum("model " in line and "version 1" in line for line in lines) == 3
    assert any("libtorch" in line for line in lines)


def test_check_names_what_would_not(tmp_path):
    root = repository.link(tmp_path / "models", NULL)
    repository.copy(root, NULL, "typo", model_pbtxt=b'licence: "CC0-1.0"\n')
    keys = tmp_path / "keys"
    keys.write_text("nonsense\n")
    ended = run("check", "--models", root, "--api-keys", keys, "--tls-cert", tmp_path / "c.pem", "--tls-key", tmp_path / "k.pem")
    assert ended.returncode == 1
    failed = [line for line in out(ended).splitlines() if line.startswith("FAILED")]
    assert len(failed) == 3
    assert any("typo" in line and "licence" in line for line in failed)
    assert any(str(keys) in line for line in failed) and any(str(tmp_path / "c.pem") in line for line in failed)
    assert any(line.startswith("ok ") and NULL in line for line in out(ended).splitlines())


def test_check_of_a_folder_that_is_not_there(tmp_path):
    ended = run("check", "--models", tmp_path / "nowhere")
    assert ended.returncode == 1 and str(tmp_path / "nowhere") in out(ended)


def test_check_refuses_wrong_usage():
    ended = run("check", "--workers", "99")
    assert ended.returncode == 2 and "0..31" in err(ended)


def test_print_config_is_toml_that_can_be_given_back(tmp_path):
    first = run("serve", "--print-config", "--workers", "3", "--log-format", "json", "--models", tmp_path / 'with "quotes"')
    assert first.returncode == 0
    config = tomllib.loads(out(first))
    assert (config["workers"], config["log_format"], config["models"]) == (3, "json", str(tmp_path / 'with "quotes"'))
    file = tmp_path / "millrace.toml"
    file.write_bytes(first.stdout)
    second = run("serve", "--print-config", "--config", file)
    assert second.returncode == 0 and tomllib.loads(out(second)) == config


# --- selftest ---

SUPPORT = ["pool", "assignment", "caches", "warm-up", "own-stream synchronisation", "handlers", "command buffers", "nn.Linear", "limiter",
           "scaling", "provenance", "profiler", "boundary"]


def test_selftest_prints_a_document_for_a_bug_report():
    # One test in this process and one in children of it.
    documents = {}
    for name in "SimpleParallel", "ThreadBoundary":
        ended = run("selftest", "--json", "--device", "cpu", "--filter", name, seconds=300)
        assert ended.returncode == 0, err(ended)
        documents[name] = json.loads(out(ended))
    document = documents["SimpleParallel"]
    assert document["schema"] == "millrace.selftest" and document["schema_version"] == 1
    assert document["passed"] is True and document["error"] is None and document["not_run"] == []
    version = out(run("version"))
    for value in document["millrace_version"], document["provenance"]["libtorch_version"], document["provenance"]["libtorch_path"]:
        assert value and value in version
    assert document["provenance"]["device"] == "cpu" and document["provenance"]["mps_pool"] == "none"
    assert document["system"]["machine"] and document["system"]["os"] and document["system"]["memory_bytes"] > 0
    [test] = document["tests"]
    assert (test["name"], test["result"], test["failures"]) == ("SimpleParallel", "passed", [])
    assert test["figures"]["wrong"] == 0 and test["figures"]["forwards_per_s"] > 0 and test["seconds"] > 0
    [boundary] = documents["ThreadBoundary"]["tests"]
    assert {cell["outcome"] for cell in boundary["outcomes"]} == {"ok"}
    assert boundary["figures"]["ok"] == boundary["figures"]["tried"] == len(boundary["outcomes"])


def test_selftest_prints_a_line_a_test():
    ended = run("selftest", "--filter", "Parallel", MILLRACE_DEVICE="cpu")
    lines = out(ended).splitlines()
    assert ended.returncode == 0 and "libtorch=" in lines[1] and lines[3].startswith("ok     SimpleParallel ")
    assert any(line.startswith("passed: 1 of 1 tests") for line in lines)


def test_selftest_says_what_libtorch_has_and_what_millrace_makes_up_for():
    ended = run("selftest", "--device", "cpu", "--filter", "StreamAssignment")
    lines = out(ended).splitlines()
    [header] = [index for index, line in enumerate(lines) if line.startswith("what forwards at once need ")]
    column = lines[header].index("libtorch")
    table = lines[header + 1:lines.index("", header)]
    assert ended.returncode == 0 and max(map(len, lines[header:header + 1] + table)) <= 120
    assert [line[:column].rstrip() for line in table if line[0] != " "] == SUPPORT
    [assignment] = [line for line in table if line.startswith("assignment ")]
    assert assignment.split()[1:6] == ["not", "applicable", "yes", "passed", "a"]


@pytest.mark.skipif(not SELFTEST_ON_MPS_STANDIN.exists(), reason="there is no stand-in for Apple's GPU")
@pytest.mark.parametrize("level", [0, 1])
def test_selftest_tells_a_stock_libtorch_from_a_patched_one(level):
    ended = run("--device", "mps", "--json", "--filter", "StreamAssignment", binary=SELFTEST_ON_MPS_STANDIN,
                MPS_STANDIN_FAULTS=f"patch_level={level}")
    document = json.loads(out(ended))
    assert ended.returncode == 0 and document["provenance"]["mps_patch"] == level
    support = document["support"]
    assert list(support) == SUPPORT
    answers = {name: (row["libtorch"], row["millrace"]) for name, row in support.items()}
    for name in "caches", "warm-up", "own-stream synchronisation", "nn.Linear":
        assert answers[name] == (("yes", "not needed") if level else ("no", "yes")), name
    assert answers["assignment"] == ("yes", "not needed") and answers["limiter"] == ("no", "yes")
    assert answers["scaling"] == (("yes", "not needed") if level else ("no", "partly"))
    assert f"the patch level is {level}" in support["profiler"]["tried"]
    assert support["pool"]["tests"] == "not run" and support["assignment"]["tests"] == "passed"
    assert "StreamAssignment: passed, streams=31" in support["pool"]["tried"]


def test_selftest_of_a_device_that_is_not_there_says_so():
    device = "cuda" if platform.system() == "Darwin" else "mps"
    ended = run("selftest", "--json", "--device", device)
    document = json.loads(out(ended))
    assert ended.returncode == 1 and document["passed"] is False and device in document["error"]
    assert document["tests"] == [] and "SimpleParallel" in document["not_run"] and document["support"] is None


# --- help, wrong usage, no server ---

@pytest.mark.parametrize("command", [[], *([name] for name in (
    "serve", "check", "models", "load", "unload", "usage", "convicted", "crashes", "translate", "synthesize", "bench-null", "trace", "hash-key", "selftest", "version"))],
    ids=lambda command: "".join(command))
def test_help_is_no_error(command):
    ended = run(*command, "--help")
    assert (ended.returncode, err(ended)) == (0, "")
    assert (command or ["translate"])[0] in out(ended)


@pytest.mark.parametrize("arguments, words", [
    ([], []), (["transalte", "x"], ["transalte", "translate"]), (["--nonsense"], ["--nonsense"]),
    (["translate"], ["text"]), (["translate", "a", "b"], ["b"]), (["translate", "a", "--modle", "x"], ["--modle", "--model"]),
    (["synthesize", "a", "--speed", "9"], ["--speed"]),
    (["translate", "a", "--timeout", "soon"], ["--timeout", "soon"]), (["bench-null", "--concurrency", "0"], ["--concurrency"]),
    (["models", "--tls-cert", "x"], ["--tls-key"]),
    (["selftest", "--device", "gpu"], ["--device", "gpu", "cuda"]), (["selftest", "--filter", "Nonsense"], ["Nonsense", "ThreadChurn"]),
], ids=lambda value: " ".join(value) or "nothing")
def test_wrong_usage_ends_with_2_and_names_it(arguments, words):
    ended = run(*arguments)
    assert ended.returncode == 2
    for word in words:
        assert word in err(ended)


# --- the two programs ---

@pytest.mark.skipif(platform.system() != "Linux", reason="asks glibc's dynamic linker")
@pytest.mark.parametrize("command", [
    ["--help"], ["serve", "--help"], ["version"], ["transalte"], ["serve", "--wrokers", "2"], ["serve", "--print-config"],
    ["hash-key", "alice"], ["models", "--models", MODELS], ["translate", "Thank you.", "--model", EN_PT],
    ["synthesize", "Hello.", "--model", VOICE, "-o", "-"], ["bench-null", "--duration", "100ms", "--warmup", "0s"],
], ids=lambda command: " ".join(map(str, command[:2])))
def test_clients_do_without_libtorch(daemon, tmp_path, command):
    if command[0] in ("translate", "synthesize", "bench-null"):
        command = [*command, "--address", daemon.address]
    ended = run(*command, LD_DEBUG="files", LD_DEBUG_OUTPUT=str(tmp_path / "loaded"))
    assert ended.returncode == (2 if "transalte" in command or "--wrokers" in command else 0), err(ended)
    loaded = "".join(file.read_text() for file in tmp_path.iterdir())
    assert "file=libgrpc" in loaded   # the linker has written down what it loads
    assert not re.findall(r"file=\S*(?:torch|c10|mkl)\S*", loaded)


@pytest.mark.skipif(platform.system() != "Linux", reason="needs Linux's /proc")
def test_daemon_keeps_the_process_and_its_name(daemon):
    process = pathlib.Path(f"/proc/{daemon.process.pid}")
    assert (process / "exe").resolve() == SERVER_PROGRAM.resolve()
    assert (process / "comm").read_text() == "millrace\n"
    assert (process / "cmdline").read_bytes().split(b"\0")[:2] == [str(BINARY).encode(), b"serve"]


def test_configuration_is_read_once(tmp_path):
    nowhere = tmp_path / "nowhere"
    ended = run("check", "--config", "/dev/stdin", stdin=f"models = '{nowhere}'\n".encode())
    assert ended.returncode == 1 and str(nowhere) in out(ended) + err(ended)


def test_server_program_is_found_through_a_link(tmp_path):
    link = tmp_path / "millrace"
    link.symlink_to(BINARY)
    ended = run("selftest", "--list", binary=link)
    assert ended.returncode == 0 and "SimpleParallel" in out(ended)


def test_missing_server_program_is_named(tmp_path):
    alone = tmp_path / "millrace"
    shutil.copy(BINARY, alone)
    ended = run("serve", binary=alone)
    assert (ended.returncode, out(ended)) == (1, "")
    assert str(tmp_path / "millrace-server") in err(ended) and "No such file" in err(ended)
    logged = run("serve", "--log-format", "json", binary=alone)
    assert logged.returncode == 1 and str(tmp_path / "millrace-server") in json.loads(err(logged))["message"]
    assert run("translate", "--help", binary=alone).returncode == 0


def test_server_program_has_no_clients():
    ended = run("translate", "Hello.", binary=SERVER_PROGRAM)
    assert (ended.returncode, out(ended)) == (2, "") and "`millrace translate`" in err(ended)


# --- version ---

def test_both_programs_tell_the_same_version():
    assert out(run("version")) == out(run("version", binary=SERVER_PROGRAM))


@pytest.mark.skipif(platform.system() != "Linux", reason="asks glibc's dynamic linker")
def test_version_follows_the_library_path_and_loads_what_says_no_version(tmp_path):
    loaded = pathlib.Path(re.search(r"from (\S+)/libtorch_cpu\.so", out(run("version")))[1])
    folder = tmp_path / "torch" / "lib"
    folder.mkdir(parents=True)
    for library in loaded.iterdir():
        (folder / library.name).symlink_to(library)
    # A wheel's libraries look for CUDA's by paths relative to themselves.
    (tmp_path / "nvidia").symlink_to(loaded.parents[1] / "nvidia")
    ended = run("version", LD_LIBRARY_PATH=str(folder))
    assert (ended.returncode, err(ended)) == (0, "")
    assert out(ended) == out(run("version")).replace(str(loaded), str(folder))


@pytest.mark.skipif(not shutil.which("taskset"), reason="only Linux keeps a process on some of the cores")
@pytest.mark.parametrize("program", [BINARY, SERVER_PROGRAM], ids=lambda program: program.name)
def test_nothing_is_said_of_being_kept_on_some_of_the_cores(program):
    core = str(min(os.sched_getaffinity(0)))
    ended = subprocess.run(["taskset", "--cpu-list", core, program, "version"], capture_output=True, timeout=60)
    assert (ended.returncode, err(ended)) == (0, "")


@pytest.mark.parametrize("program", [BINARY, SERVER_PROGRAM], ids=lambda program: program.name)
def test_allocator_does_as_the_daemon_asks(program):
    ended = subprocess.run([program, "version"], capture_output=True, timeout=60, env=os.environ | {"MALLOC_CONF": "stats_print:true"})
    if "jemalloc statistics" not in err(ended):
        pytest.skip("the daemon was built with the system's allocator")
    assert 'opt.percpu_arena: "percpu"' in err(ended) and "opt.background_thread: true" in err(ended)
