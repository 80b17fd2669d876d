"""What goes wrong in one's own TorchScript module can be found: the cause is in the answer, and all of it in the log."""

import json
import pickle
import signal
import urllib.error
import urllib.request
import zipfile

import pytest
from wire import daemon as daemons
from wire import repository
from wire.daemon import run
from wire.paths import NULL
from wire.polling import eventually
from wire.requests import PATIENCE

CONFIG = """\
torchscript {
  file: "model.pt"
  inputs { name: "A" datatype: "FP32" shape: -1 }
  outputs { name: "X" datatype: "FP32" shape: -1 }
}
"""
RAISES = """\
def forward(self: __torch__.Module,
  a: Tensor) -> Tensor:
  if bool(torch.gt(torch.numel(a), 2)):
    ops.prim.RaiseException("too large for me", "builtins.RuntimeError")
  else:
    pass
  return a
"""
# libtorch's own error ends with a C++ stack trace.
ADDS_THREE = """\
def forward(self: __torch__.Module,
  a: Tensor) -> Tensor:
  return torch.add(a, torch.ones([3]))
"""


def add(root, name, forward):
    folder = root / name / "1"
    folder.mkdir(parents=True)
    (folder / "model.pbtxt").write_text(CONFIG)
    repository.write_torchscript(folder / "model.pt", forward)
    return folder


def infer(daemon, model, *numbers):
    body = {"inputs": [{"name": "A", "datatype": "FP32", "shape": [len(numbers)], "data": numbers}]}
    request = urllib.request.Request(f"http://127.0.0.1:{daemon.ports['http']}/v2/models/{model}/infer", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.load(answer)


def test_the_cause_is_in_the_answer_and_all_of_it_in_the_log(tmp_path):
    models = tmp_path / "models"
    add(models, "boom", RAISES)
    add(models, "sum", ADDS_THREE)
    with daemons.start(tmp_path, models=models) as daemon:
        assert infer(daemon, "boom", 1)["outputs"][0]["data"] == [1]
        with pytest.raises(urllib.error.HTTPError) as failed:
            infer(daemon, "boom", 1, 2, 3)
        message = json.load(failed.value)["error"]
        assert failed.value.code == 500 and message.endswith("too large for me") and "Traceback" not in message
        with pytest.raises(urllib.error.HTTPError) as failed:
            infer(daemon, "sum", 1, 2)
        assert "RuntimeError: The size of tensor a (2) must match" in json.load(failed.value)["error"]
        eventually("the log has the traceback", lambda: "Traceback of TorchScript" in daemon.log.read_text())


def test_check_names_the_cause_of_a_warm_up_that_fails(tmp_path):
    models = tmp_path / "models"
    add(models, "wrong", RAISES.replace("2)", "0)"))
    ended = run("check", "--models", models)
    line = next(line for line in daemons.out(ended).splitlines() if "model wrong" in line)
    assert ended.returncode == 1 and line.startswith("FAILED") and line.endswith("too large for me")


def test_a_file_of_torch_save_is_told_what_to_do(tmp_path):
    models = tmp_path / "models"
    zipped = add(models, "zipped", RAISES) / "model.pt"
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("model/data.pkl", pickle.dumps({}))
        archive.writestr("model/version", b"3\n")
    (add(models, "old", RAISES) / "model.pt").write_bytes(pickle.dumps({}, protocol=2))
    ended = run("check", "--models", models)
    for name in ("zipped", "old"):
        line = next(line for line in daemons.out(ended).splitlines() if f"model {name}" in line)
        assert "saved by torch.save; save it with torch.jit.script(m).save" in line


def test_folders_that_are_ignored_are_named_with_what_helps(tmp_path):
    models = repository.link(tmp_path / "models", NULL)
    for file in ("triton/config.pbtxt", "triton/1/model.pt", "raw/1/voice.onnx", "My Voice/1/model.pbtxt"):
        (models / file).parent.mkdir(parents=True, exist_ok=True)
        (models / file).write_text("")
    add(models, "theirs", RAISES).joinpath("model.pbtxt").write_text('name: "theirs"\nplatform: "pytorch_libtorch"\ninput [ { name: "A" } ]\n')
    ended = run("check", "--models", models)
    said = daemons.out(ended)
    for words in (["triton", "Triton's config.pbtxt", "triton/1/model.pbtxt"], ["raw", "models.convert vits --onnx"], ["'My Voice' is no name"]):
        assert any(line.startswith("warning") and all(word in line for word in words) for line in said.splitlines()), (words, said)
    assert "written as Triton's config.pbtxt" in said and "torchscript {" in said
    with daemons.start(tmp_path, models=models) as daemon:
        assert "is ignored" in daemon.log.read_text()
        request = urllib.request.Request(f"http://127.0.0.1:{daemon.ports['http']}/v2/repository/models/raw/load", b"")
        with pytest.raises(urllib.error.HTTPError) as failed:
            urllib.request.urlopen(request, timeout=PATIENCE)
        assert "models.convert vits" in json.load(failed.value)["error"]


def test_executors_take_the_level_of_the_log_while_they_run(tmp_path):
    models = tmp_path / "models"
    add(models, "boom", RAISES)
    with daemons.start(tmp_path, "--executors", "1", "--log-level", "off", models=models) as daemon:
        # Loggers write in threads of their own, so a line may come behind the answer.
        def logs_a_failure(before):
            with pytest.raises(urllib.error.HTTPError):
                infer(daemon, "boom", 1, 2, 3)
            return "Traceback of TorchScript" in daemon.log_text()[before:]

        assert not logs_a_failure(0)
        daemon.process.send_signal(signal.SIGUSR1)
        eventually("the executor logs it", lambda: logs_a_failure(0))
        daemon.process.send_signal(signal.SIGUSR2)
        eventually("it logs no more", lambda: not logs_a_failure(len(daemon.log_text())))
