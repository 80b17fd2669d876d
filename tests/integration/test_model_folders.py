"""Where --models may point: the folder of one model, as clusters mount it, a mount that cannot be written, several folders."""

import shutil
import subprocess

import pytest
from wire import daemon as daemons
from wire import repository
from wire.paths import MODELS, NULL
from wire.requests import PATIENCE, null_request

# Mounts the folder that is $0 read-only for the command behind it alone.
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && ! touch "$0/x" 2>/dev/null && exec "$@"'


def names(daemon):
    status, models = daemon.http("/v2/models")
    assert status == 200
    return {model["name"] for model in models["models"]}


def test_the_folder_of_one_model_with_a_name_on_a_read_only_mount(tmp_path):
    mount = tmp_path / "mnt" / "models"
    shutil.copytree(MODELS / NULL / "1", mount)
    under = ("unshare", "--mount", "sh", "-c", READ_ONLY, str(mount))
    if subprocess.run([*under, "true"], capture_output=True, check=False).returncode != 0:
        under = ()   # without the right to mount, the folder stays writable
    with daemons.start(tmp_path, "--workers", "1", models=f"my-model={mount}", under=under) as daemon:
        assert names(daemon) == {"my-model"}
        answer = daemon.kserve.ModelInfer(null_request(model_name="my-model"), timeout=PATIENCE)
        assert (answer.model_name, answer.model_version) == ("my-model", "1")
    assert {file.name for file in mount.iterdir()} == {file.name for file in (MODELS / NULL / "1").iterdir()}


def test_several_folders(tmp_path):
    first = repository.link(tmp_path / "first", NULL)
    second = tmp_path / "second"
    repository.add_echo(second)
    with daemons.start(tmp_path, "--workers", "1", models=f"{first},{second}") as daemon:
        assert names(daemon) == {NULL, "echo"}


@pytest.mark.parametrize(("second", "words"), [
    ("same", "has a model 'null', but so has"),
    ("empty", "holds no model"),
    ("missing", "no such folder"),
])
def test_a_folder_that_is_wrong_ends_the_start_with_its_name(tmp_path, second, words):
    first = repository.link(tmp_path / "first", NULL)
    repository.link(tmp_path / "same", NULL)
    (tmp_path / "empty").mkdir()
    status, message = daemons.refused_start(models=f"{first},{tmp_path / second}")
    assert status == 1
    assert f"{tmp_path / second}: {words}" in message
