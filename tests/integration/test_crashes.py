"""Reports of crashes: --crash-directory and `millrace crashes`."""

import json
import os
import signal
import sys

import grpc
import pytest
from wire import daemon as daemons
from wire import limits, repository
from wire.executors import end_executor, executors, wait_for_step
from wire.paths import EN_PT, NULL, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, null_request, speak_request, translate_request

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="executors are found by /proc")

WORDS = "The quick brown fox jumps over the lazy dog."


def crashes(folder, *arguments, status=0):
    ended = daemons.run("crashes", "--crash-directory", folder, *arguments)
    assert ended.returncode == status, ended.stderr.decode()
    return (ended.stdout if status == 0 else ended.stderr).decode()


def reports(folder):
    return json.loads(crashes(folder, "--json"))["crashes"]


def test_a_crash_of_an_executor_is_reported_with_its_steps_and_stack(tmp_path):
    folder = tmp_path / "new" / "crashes"
    models = repository.link(tmp_path / "models", NULL, EN_PT, VOICE)
    gate = repository.Gate(models)
    with daemons.start(tmp_path, "--workers", "2", "--executors", "1", "--crash-directory", folder, models=models) as daemon:
        daemon.translation.Translate(translate_request(WORDS), timeout=PATIENCE)
        daemon.synthesis.Synthesize(speak_request(WORDS), timeout=PATIENCE)
        waits = daemon.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE)
        wait_for_step(daemon)
        dead = executors(daemon)[0]
        end_executor(daemon, signal.SIGSEGV)
        eventually("there is a report", lambda: reports(folder))
        [report] = reports(folder)
        assert (report["id"], report["pid"], report["cause"], report["how"]) == (f"executor-{dead}", dead, "crash", "signal SIGSEGV")
        assert report["process"] == "executor"
        assert any("RunExecutor" in frame.get("symbol", "") for frame in report["stack"]), report["stack"]
        [running] = [step for step in report["steps"] if step.get("running")]
        assert running["model"] == gate.name
        assert running["described"][0]["shape"] == [1]
        assert running["described"][0]["id"] > 0
        assert {EN_PT, VOICE} <= {step["model"] for step in report["steps"]}
        text = "".join(file.read_text() for file in folder.iterdir())
        assert not any(word in text for word in ("quick", "fox", "lazy"))

        listed = crashes(folder)
        assert listed.splitlines()[0].split() == ["TIME", "ID", "CAUSE", "HOW", "RUNNING"]
        assert f"executor-{dead}" in listed
        assert gate.name in listed
        shown = crashes(folder, f"executor-{dead}")
        assert "RunExecutor" in shown
        assert "ran for" in shown
        assert json.loads(crashes(folder, report["file"], "--json"))["pid"] == dead
        assert "has no report 'executor-1'" in crashes(folder, "executor-1", status=1)

        waits.cancel()
        killed = executors(daemon)[0]
        end_executor(daemon)
        eventually("there is another", lambda: len(reports(folder)) == 2)
        assert reports(folder)[1]["cause"] == "killed"
        assert "stack" not in reports(folder)[1]
        assert "No stack" in crashes(folder, f"executor-{killed}")


def test_a_crash_of_the_server_is_reported(tmp_path):
    folder = tmp_path / "crashes"
    models = repository.link(tmp_path / "models", NULL)
    gate = repository.Gate(models)
    with daemons.start(tmp_path, "--crash-directory", folder, models=models) as daemon:
        waits = daemon.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE)
        eventually("it is under way", lambda: daemon.running_forwards() > 0)
        daemon.process.send_signal(signal.SIGSEGV)
        assert daemon.exit_status(10) == -signal.SIGSEGV
        assert waits.code() == grpc.StatusCode.UNAVAILABLE
        assert "a report is in --crash-directory" in daemon.log_text()
    [report] = reports(folder)
    assert (report["process"], report["pid"], report["signal"]) == ("server", daemon.process.pid, "SIGSEGV")
    assert [step["model"] for step in report["steps"] if step.get("running")] == [gate.name]
    assert any("Serve" in frame.get("symbol", "") for frame in report["stack"]), report["stack"]


def test_a_folder_that_cannot_be_written_costs_one_line(tmp_path, null_models):
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "file", "/proc/none", "/dev/full"):
        with daemons.start(tmp_path, "--executors", "1", "--crash-directory", folder, models=null_models) as daemon:
            end_executor(daemon)
            daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
            lines = [line for line in daemon.log_text().splitlines() if "crash-directory" in line]
            assert len(lines) == 1
            assert f"--crash-directory: '{folder}' cannot be written: " in lines[0]


def test_a_folder_that_becomes_unwritable_costs_one_line(tmp_path, null_models):
    folder = tmp_path / "crashes"
    with daemons.start(tmp_path, "--executors", "1", "--crash-directory", folder, models=null_models) as daemon:
        folder.rmdir()
        end_executor(daemon)
        end_executor(daemon)
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        assert daemon.log_text().count("a crash report could not be written") == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of a running process are set by means of Linux")
def test_a_full_disk_costs_reports_and_nothing_else(tmp_path, null_models):
    """Neither the log nor a report can be written while an executor dies, nor what its successor would record."""
    folder = tmp_path / "crashes"
    with daemons.start(tmp_path, "--executors", "1", "--crash-directory", folder, models=null_models) as daemon:
        with limits.with_a_full_disk(daemon.process.pid):
            for _ in range(2):
                end_executor(daemon)
                daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
            assert reports(folder) == []
        dead = executors(daemon)
        end_executor(daemon)
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        eventually("there is a report", lambda: [report["pid"] for report in reports(folder)] == dead)


def test_two_servers_share_a_folder(tmp_path, null_models):
    folder = tmp_path / "crashes"
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    options = ("--executors", "1", "--crash-directory", folder)
    with daemons.start(tmp_path / "one", *options, models=null_models) as one, \
            daemons.start(tmp_path / "two", *options, models=null_models) as two:
        dead = {executors(one)[0], executors(two)[0]}
        end_executor(one)
        end_executor(two)
        eventually("both are there", lambda: {report["pid"] for report in reports(folder)} == dead)


def test_what_is_no_report_is_said_and_skipped(tmp_path):
    (tmp_path / "crash-1700000000000-1.json").write_text("{")
    (tmp_path / "crash-1700000000001-2.json").write_text('{"id": 7, "steps": [1, {"described": 2}], "stack": [3], "time_unix_ms": "x"}')
    (tmp_path / "notes.txt").write_text("x")
    ended = daemons.run("crashes", "--crash-directory", tmp_path)
    assert ended.returncode == 0
    assert ended.stderr.decode() == "millrace: crash-1700000000000-1.json: is not a crash report\n"
    assert len(ended.stdout.decode().splitlines()) == 2
    assert "is not a crash report" in crashes(tmp_path, "crash-1700000000000-1.json", status=1)
    crashes(tmp_path, "crash-1700000000001-2.json")


@pytest.mark.parametrize(("arguments", "words"), [
    ((), "--crash-directory: name the server's folder of reports"),
    (("--crash-directory", "/none"), "--crash-directory: '/none' cannot be read: "),
])
def test_crashes_without_a_folder(arguments, words):
    ended = daemons.run("crashes", *arguments)
    assert ended.returncode != 0
    assert words in ended.stderr.decode()
