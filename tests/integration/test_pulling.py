"""Models that are pulled by name from a mirror, added and removed by the commands of the program, are served."""

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
import urllib.error
import urllib.request

import grpc
import pytest
from wire import daemon as daemons
from wire import mirror
from wire.daemon import err, out, run
from wire.paths import BINARY, ENVIRONMENT, MODELS, ROOT
from wire.requests import PATIENCE
from wire.stubs import admin, kserve, synthesis, translation

assert mirror   # it has the tests' random voices found
import published  # noqa: E402
import random_voice  # noqa: E402
import tiny_argos  # noqa: E402

PROGRAM = BINARY.with_name("millrace-models")


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    with mirror.start() as hub:
        mirror.publish_voice(hub, "en_US-lessac-medium")
        for pair in ("en-de", "en-fr", "en-zh", "fr-en"):
            mirror.publish_pair(hub, folder, pair)
        mirror.publish_package(hub, folder, "en-de")
        for repository, license_text in (("Helsinki-NLP/opus-mt-en-de", "cc-by-4.0"), ("Helsinki-NLP/opus-mt-en-fr", "apache-2.0"),
                                         ("facebook/m2m100_418M", "mit"), ("facebook/m2m100_1.2B", "mit"),
                                         ("facebook/nllb-200-distilled-600M", "cc-by-nc-4.0"),
                                         ("facebook/nllb-200-distilled-1.3B", "cc-by-nc-4.0")):
            mirror.publish_translator(hub, folder, repository, license_text)
        yield hub


def installed(models):
    return sorted(path.name for path in models.iterdir())


def table():
    """The names of the table in the document."""
    text = (ROOT / "docs" / "models.md").read_text().partition("| Name |")[2].partition("\n\n")[0]
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def test_each_name_of_the_document_is_pulled_served_and_answers(hub, tmp_path):
    mirror.publish_kokoro(hub, tmp_path)
    mirror.publish_kokoro(hub, tmp_path, "Kokoro-82M-v1.1-zh", ("af_maple", "zf_001"))
    names, models = table(), tmp_path / "models"
    assert len(names) == 13 and "piper/en_US-lessac-medium" in names
    for name in names:
        option = ["--license-ok"] if "nllb" in name else []
        pulled = run("pull", name, *option, "--models", models, "--json", "--address", "127.0.0.1:1", **hub.environment)
        # The server that was named is not there, which is told apart from a failure to install.
        assert pulled.returncode == 1 and '"event": "installed"' in out(pulled), (name, err(pulled))
    assert len(installed(models)) == len(names) + 1   # both directions of one
    with daemons.start(tmp_path, models=models) as daemon:
        for model in daemon.admin.ListModels(admin.ListModelsRequest()).models:
            assert model.state == admin.MODEL_STATE_READY and model.origin.name and model.origin.revision, model
            if model.task == "synthesis":
                request = synthesis.SynthesizeRequest(model=model.name, text="Good morning.")
                assert len(daemon.synthesis.Synthesize(request, timeout=PATIENCE).audio) > 10_000, model.name
            else:
                request = translation.TranslateRequest(model=model.name, texts=["the cat sat on the mat."])
                assert len(daemon.translation.Translate(request, timeout=PATIENCE).translations) == 1, model.name


def test_the_commands_of_the_document_work_as_they_stand(tmp_path):
    """In a shell, one after the other, with the server of the first."""
    (tmp_path / "Downloads").mkdir()
    random_voice.write(tmp_path / "Downloads" / "voice.onnx")
    block = (ROOT / "docs" / "models.md").read_text().partition("## Get a model by its name")[2].partition("```sh\n")[2].partition("```")[0]
    serve, *commands = [line.partition("#")[0].strip() for line in block.splitlines()]
    assert [command.split()[1] for command in commands] == ["pull", "models", "add", "remove"]
    _, _, *options = shlex.split(serve)
    # The repository of a command that names none, as the document says.
    with mirror.start() as hub, contextlib.ExitStack() as stack:
        for pair in ("en-de", "de-en"):
            mirror.publish_pair(hub, tmp_path, pair)
        mirror.publish_package(hub, tmp_path, "en-de")   # its index is listed too
        mirror.publish_voice(hub, "en_US-lessac-medium")
        daemon = stack.enter_context(daemons.start(tmp_path, *options, models=tmp_path / "models", **hub.environment))
        mirror.publish_voice(hub, "de_DE-thorsten-medium", "de")   # the index has the last one
        environment = ENVIRONMENT | hub.environment | {"PATH": f"{BINARY.parent}:/usr/bin:/bin", "HOME": str(tmp_path),
                                                       "MILLRACE_MODELS": str(tmp_path / "models"), "MILLRACE_ADDRESS": daemon.address}
        for command in commands:
            ended = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path)
            assert (ended.returncode, ended.stderr) == (0, ""), (command, ended.stdout, ended.stderr)
        listed = {model.name for model in daemon.admin.ListModels(admin.ListModelsRequest()).models if model.state == admin.MODEL_STATE_READY}
        assert listed == {"en_us-lessac-medium", "de_de-thorsten-medium", "firefox-de-en", "voice"}
        spoken = daemon.synthesis.Synthesize(synthesis.SynthesizeRequest(text="Guten Morgen, wie geht es Ihnen heute?"), timeout=PATIENCE)
        assert spoken.model == "de_de-thorsten-medium" and len(spoken.audio) > 10_000


def other_commands():
    """Those of the document beside its first block: in blocks, in comments of these, and in sentences."""
    text = (ROOT / "docs" / "models.md").read_text().partition("| Name |")[2]
    found = re.findall(r"(?:`|^|: )((?:sudo )?millrace (?:pull|add|remove|models) [^`#\n]*(?:\n[^`#\n]+(?=`))?)", text, re.MULTILINE)
    return list(dict.fromkeys(" ".join(command.split()) for command in found))


def test_the_other_commands_of_the_document_work_as_they_stand(hub, tmp_path):
    home = tmp_path / "home"
    mirror.publish_kokoro(hub, home)
    random_voice.write(home / "voice.onnx")
    published.m2m(home / "nllb-200-distilled-600M")
    for pair in ("en-de", "de-en"):
        tiny_argos.package(home / ".local/share/argos-translate/packages" / pair, *pair.split("-"))
    # No server is named, so that one of another repository is left alone.
    environment = ENVIRONMENT | hub.environment | {"PATH": f"{BINARY.parent}:/usr/bin:/bin", "HOME": str(home), "MILLRACE_ADDRESS": ""}
    commands = other_commands()
    for expected in ("millrace add voice.onnx --license CC0-1.0", "millrace add Kokoro-82M", "millrace pull kokoro-82m", "millrace pull --license-ok NAME",
                     "millrace add ~/.local/share/argos-translate/packages", "millrace add nllb-200-distilled-600M --source en --target de"):
        assert expected in commands, commands
    for number, command in enumerate(commands):
        models = tmp_path / f"models{number}"
        # The test may write to its folder without sudo, and NAME stands for any name of the table.
        command = command.removeprefix("sudo ").replace("/var/lib/millrace/models", str(models)).replace("NAME", "firefox/en-de")
        ended = subprocess.run(command, shell=True, env=environment | {"MILLRACE_MODELS": str(models)}, capture_output=True, text=True, check=False,
                               timeout=60, cwd=home)
        assert (ended.returncode, ended.stderr) == (0, ""), (command, ended.stdout, ended.stderr)
        assert installed(models), command


def test_the_requests_of_the_document_work_as_they_stand(tmp_path):
    """With curl in a shell, against the models of the demo."""
    text = (ROOT / "docs" / "models.md").read_text()
    commands = [command for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for command in re.split(r"\n(?=curl )", block)
                if command.startswith("curl ")]
    assert len(commands) == 3
    shutil.copytree(MODELS / "null", tmp_path / "models" / "null")
    with daemons.start(tmp_path, models=tmp_path / "models") as daemon:
        for command, said in zip(commands, ("{}", "{}", '"outputs"')):
            ended = subprocess.run(["bash", "-c", command.replace("localhost:8000", f"localhost:{daemon.ports['http']}")], capture_output=True,
                                   text=True, check=False, timeout=60)
            assert ended.returncode == 0 and said in ended.stdout, (command, ended.stdout, ended.stderr)


@pytest.fixture(scope="module")
def served(hub, tmp_path_factory):
    """A daemon that has fetched its models itself."""
    folder = tmp_path_factory.mktemp("served")
    with daemons.start(folder, "--pull", "piper/en_US-lessac-medium,firefox/en-de", models=folder / "new" / "models", **hub.environment) as daemon:
        yield daemon


def models_of(daemon):
    return daemon.log.parent / "new" / "models"


def client_of(daemon, models, hub, *arguments):
    ended = run(*arguments, "--models", models, "--address", daemon.address, **hub.environment)
    assert ended.returncode == 0, err(ended)


def client(daemon, hub, *arguments, **environment):
    return run(*arguments, "--models", models_of(daemon), "--address", daemon.address, **hub.environment, **environment)


def test_serve_fetches_what_it_is_to_serve(served):
    assert installed(models_of(served)) == ["en_us-lessac-medium", "firefox-en-de"]
    spoken = served.synthesis.Synthesize(synthesis.SynthesizeRequest(text="Good morning."), timeout=PATIENCE)
    assert len(spoken.audio) > 10_000
    for line in ("pulling model", "model was pulled", "en_us-lessac-medium"):
        assert line in served.log_text()


def test_a_second_start_needs_no_network(served, tmp_path):
    with daemons.start(tmp_path, "--pull", "piper/en_US-lessac-medium,firefox/en-de", models=models_of(served), HF_HUB_OFFLINE="1") as daemon:
        assert "model is there" in daemon.log_text() and "pulling model" not in daemon.log_text()


def test_the_configuration_has_a_list(hub, tmp_path):
    (tmp_path / "millrace.toml").write_text('pull = ["firefox/en-de", "firefox/fr"]\n')
    with daemons.start(tmp_path, "--config", tmp_path / "millrace.toml", models=tmp_path / "models", **hub.environment):
        assert installed(tmp_path / "models") == ["firefox-en-de", "firefox-en-fr", "firefox-fr-en"]


def test_serve_says_why_it_cannot_fetch(hub, tmp_path):
    for names, message in (("firefox/en-dd", "nearest are firefox/en-de"), ("nllb-200-distilled-600m", "--license-ok accepts it")):
        code, errors = daemons.refused_start("--pull", names, models=tmp_path / "models", **hub.environment)
        assert code == 1 and message in errors.splitlines()[-1] and errors.splitlines()[-1].startswith("millrace: --pull: "), errors
    code, errors = daemons.refused_start("--pull", "--force", models=tmp_path / "models")
    assert code == 2 and "--pull: '--force' is not allowed" in errors
    assert not (tmp_path / "models").exists()


def test_a_running_server_serves_what_is_pulled_and_drops_what_is_removed(served, hub):
    pulled = client(served, hub, "pull", "opus-mt-en-de")
    assert (pulled.returncode, err(pulled)) == (0, "")
    assert out(pulled).splitlines()[-1] == f"opus-mt-en-de: served by {served.address}"
    request = translation.TranslateRequest(model="opus-mt-en-de", texts=["the cat."])
    assert served.translation.Translate(request, timeout=PATIENCE).translations
    again = client(served, hub, "pull", "opus-mt-en-de")
    assert again.returncode == 0 and "is there already" in out(again)
    listed = run("models", "--address", served.address)
    assert re.search(r"^opus-mt-en-de .*; opus-mt-en-de 0123456789ab of \d{4}-\d\d-\d\d$", out(listed), re.MULTILINE), out(listed)
    listed = json.loads(out(run("models", "--models", models_of(served), "--json")))
    assert {model["name"]: model["origin"]["name"] for model in listed["models"]}["firefox-en-de"] == "firefox/en-de"
    removed = client(served, hub, "remove", "opus-mt-en-de", "--json")
    assert [json.loads(line)["event"] for line in out(removed).splitlines()] == ["removed", "unloaded"]
    assert "opus-mt-en-de" not in out(run("models", "--address", served.address))


def test_a_server_of_another_repository_is_left_alone(served, hub, tmp_path):
    """Which was not named, but found at the usual address."""
    config = {"MILLRACE_ADDRESS": ""} | hub.environment
    environment = ENVIRONMENT | config
    command = [BINARY, "pull", "firefox/en-de", "--models", tmp_path / "models"]
    pulled = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert pulled.returncode == 0 and "millrace serve --models" in pulled.stdout.splitlines()[-1]


def test_models_that_are_available(hub):
    listed = run("models", "--available", "fr", **hub.environment)
    assert [line.split()[0] for line in out(listed).splitlines()] == ["firefox/en-fr", "firefox/fr-en"]
    assert len(out(run("models", "--available", **hub.environment)).splitlines()) > 5
    assert run("models", "--available", HF_HUB_OFFLINE="1", **hub.environment).returncode == 3


def test_the_exit_status_is_the_kind_of_the_failure(hub, tmp_path):
    for status, message, arguments in ((4, "nearest are kokoro-82m", ["pull", "kokoro-82"]), (6, "CC-BY-NC-4.0", ["pull", "nllb-200-distilled-600m"]),
                                       (1, "no such file", ["add", tmp_path / "none.onnx"]), (2, "is no name of a model", ["pull", "firefox/en-de", "--as", "a/b"]), (2, "--as: '' is no name", ["pull", "firefox/en-de", "--as", ""]),
                                       (2, "--license: '' is not allowed", ["add", tmp_path, "--license", ""]), (1, "no such folder", ["remove", "none"]),
                                       (2, "name is required", ["pull"]), (2, "--precision", ["pull", "x", "--precision", "int4"])):
        ended = run(*arguments, "--models", tmp_path / "models", **hub.environment)
        assert ended.returncode == status and message in err(ended), err(ended)
        assert status == 2 or err(ended).startswith(f"millrace {arguments[0]}: ") and err(ended).count("\n") == 1, err(ended)
    assert not (tmp_path / "models").exists()


@contextlib.contextmanager
def a_transfer_that_hangs(hub, path, sent=0):
    """The hub answers the next request for the path with so many bytes of a file and then with nothing until the block ends.

    Yields an event that is set once the transfer has begun."""
    begun, ended = threading.Event(), threading.Event()

    def hang(handler):
        if sent:
            handler.send_response(200)
            handler.send_header("Content-Length", "1000000000")
            handler.end_headers()
            handler.wfile.write(bytes(sent))
            handler.wfile.flush()
        begun.set()
        ended.wait()
        return True

    hub.faults[path] = [hang]
    try:
        yield begun
    finally:
        ended.set()


def test_what_the_server_will_be_asked_with_is_read_before_the_transfer(tmp_path):
    # No hub is there to be asked.
    for command, name in (("pull", "piper/en_US-lessac-medium"), ("add", tmp_path / "voice"), ("remove", "voice")):
        ended = run(command, name, "--models", tmp_path / "models", "--tls-ca", tmp_path / "none.pem")
        assert (ended.returncode, err(ended)) == (1, f"millrace: {tmp_path / 'none.pem'}: cannot be read: No such file or directory\n")
    assert not (tmp_path / "models").exists()


def test_ctrl_c_leaves_nothing_half_installed(hub, tmp_path):
    with a_transfer_that_hangs(hub, "/models/en-de/files/model.ende.intgemm.alphas.bin.gz", sent=1000) as begun:
        process = subprocess.Popen([BINARY, "pull", "firefox/en-de", "--models", tmp_path / "models"], env=ENVIRONMENT | hub.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        assert begun.wait(30)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130 and errors.startswith("millrace pull: interrupted; nothing was installed") and errors.count("\n") == 1
    assert not (tmp_path / "models" / "firefox-en-de").exists()


def test_a_signal_ends_a_start_that_fetches(hub, tmp_path):
    with a_transfer_that_hangs(hub, "/db/models.json") as begun:
        process = subprocess.Popen([BINARY, *daemons.SERVE, "--models", tmp_path / "models", "--pull", "firefox/en-de"], env=ENVIRONMENT | hub.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert begun.wait(30)
        process.terminate()
        process.communicate(timeout=15)
    assert process.returncode == 0


def test_without_the_program_the_message_says_how_to_install_it(tmp_path):
    os.link(BINARY, tmp_path / "millrace")
    ended = run("pull", "firefox/en-de", binary=tmp_path / "millrace", PATH="/nowhere")
    assert ended.returncode == 1 and "pip install millrace-models" in err(ended) and err(ended).count("\n") == 1
    # One in PATH will do.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / PROGRAM.name).symlink_to(PROGRAM)
    ended = run("pull", "kokoro-8", binary=tmp_path / "millrace", PATH=f"/nowhere:{tmp_path / 'bin'}:/usr/bin:/bin", HF_HUB_OFFLINE="1")
    assert ended.returncode == 4 and "kokoro-82m" in err(ended)


def test_admins_may_have_models_fetched_where_that_is_allowed(hub, tmp_path):
    lines = [run("hash-key", name, "--role", name, "--stdin", stdin=name.encode()).stdout.decode() for name in ("user", "admin")]
    (tmp_path / "keys").write_text("".join(lines))
    (tmp_path / "keys").chmod(0o600)
    models = tmp_path / "models"
    assert run("pull", "firefox/en-de", "--models", models, **hub.environment).returncode == 0
    with daemons.start(tmp_path, "--allow-pull", "--api-keys", tmp_path / "keys", models=models, **hub.environment) as daemon:
        def load(model, key, pull, **more):
            body = json.dumps({"parameters": {"pull": pull, **more}}).encode()
            request = urllib.request.Request(f"http://127.0.0.1:{daemon.ports['http']}/v2/repository/models/{model}/load", body,
                                             {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return answer.status, json.load(answer)
            except urllib.error.HTTPError as error:
                return error.code, json.load(error)["error"]
        assert load("mine", "user", "opus-mt-en-de")[0] == 403
        assert load("mine", "admin", "opus-mt-en-de") == (200, {})
        status, message = load("big", "admin", "nllb-200-distilled-600m")
        assert status == 400 and "--license-ok accepts it" in message
        assert load("big", "admin", "nllb-200-distilled-600m", license_ok=True) == (200, {})
        status, message = load("none", "admin", "opus-mt-xx-yy")
        assert status == 404 and "no such model" in message
        metadata = [("authorization", "Bearer admin")]
        request = admin.LoadModelRequest(model="other", pull="hf:Helsinki-NLP/opus-mt-en-fr")
        loaded = daemon.admin.LoadModel(request, metadata=metadata, timeout=60).model
        assert loaded.state == admin.MODEL_STATE_READY and loaded.origin.name == "hf:Helsinki-NLP/opus-mt-en-fr"
        assert installed(models) == ["big", "firefox-en-de", "mine", "other"]


def test_callers_have_nothing_fetched_unless_that_is_allowed(served):
    with pytest.raises(grpc.RpcError) as refused:
        served.admin.LoadModel(admin.LoadModelRequest(model="x", pull="firefox/en-fr"), timeout=30)
    assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION and "--allow-pull" in refused.value.details()


def test_a_model_in_use_is_removed_and_who_uses_it_gets_the_rest(hub, tmp_path):
    models = tmp_path / "models"
    for name in ("by_grpc", "by_kserve", "by_http", "by_command"):
        assert run("pull", "piper/en_US-lessac-medium", "--as", name, "--models", models, "--address", "127.0.0.1:1", **hub.environment).returncode == 1
    assert run("pull", "firefox/en-de", "--models", models, "--address", "127.0.0.1:1", **hub.environment).returncode == 1
    text = "The children were playing in the garden and nobody knew where the nearest station was. " * 20
    with daemons.start(tmp_path, "--allow-pull", models=models, **hub.environment) as daemon:
        def by_http(model):
            body = json.dumps({"parameters": {"remove": True}}).encode()
            url = f"http://127.0.0.1:{daemon.ports['http']}/v2/repository/models/{model}/unload"
            with urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "application/json"}), timeout=60) as answer:
                assert json.load(answer) == {}
        def by_kserve(model):
            request = kserve.RepositoryModelUnloadRequest(model_name=model)
            request.parameters["remove"].bool_param = True
            daemon.kserve.RepositoryModelUnload(request, timeout=PATIENCE)
        removals = {"by_http": by_http, "by_kserve": by_kserve,
                    "by_grpc": lambda model: daemon.admin.UnloadModel(admin.UnloadModelRequest(model=model, remove=True), timeout=PATIENCE),
                    "by_command": lambda model: client_of(daemon, models, hub, "remove", model)}
        # All four are one voice.
        whole = len(daemon.synthesis.Synthesize(synthesis.SynthesizeRequest(model="by_grpc", text=text), timeout=PATIENCE).audio)
        for name, remove in removals.items():
            replies = daemon.synthesis.StreamSynthesize(synthesis.SynthesizeRequest(model=name, text=text), timeout=PATIENCE)
            heard = len(next(replies).audio)
            remove(name)
            assert not (models / name).exists()
            with pytest.raises(grpc.RpcError) as refused:
                daemon.synthesis.Synthesize(synthesis.SynthesizeRequest(model=name, text="Gone."), timeout=PATIENCE)
            assert refused.value.code() == grpc.StatusCode.NOT_FOUND
            assert heard + sum(len(reply.audio) for reply in replies) >= 0.9 * whole
        # One that is not loaded is removed too, and one that is not there is named.
        daemon.admin.UnloadModel(admin.UnloadModelRequest(model="firefox-en-de"), timeout=PATIENCE)
        by_http("firefox-en-de")
        assert installed(models) == [] and not daemon.admin.ListModels(admin.ListModelsRequest()).models
        with pytest.raises(grpc.RpcError) as refused:
            daemon.admin.UnloadModel(admin.UnloadModelRequest(model="firefox-en-de", remove=True), timeout=PATIENCE)
        assert refused.value.code() == grpc.StatusCode.NOT_FOUND and "has no model 'firefox-en-de'" in refused.value.details()


def test_callers_have_nothing_removed_unless_that_is_allowed(served):
    for model in ("firefox-en-de", "none"):
        with pytest.raises(grpc.RpcError) as refused:
            served.admin.UnloadModel(admin.UnloadModelRequest(model=model, remove=True), timeout=30)
        assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION and "--allow-pull" in refused.value.details()
    assert "firefox-en-de" in installed(models_of(served))
    assert any(model.name == "firefox-en-de" for model in served.admin.ListModels(admin.ListModelsRequest()).models)


def test_languages_that_are_reached_by_a_pivot_are_marked_over_http(hub, tmp_path):
    assert run("pull", "firefox/en-de", "firefox/fr", "--models", tmp_path / "models", "--address", "127.0.0.1:1", **hub.environment).returncode == 1
    with daemons.start(tmp_path, models=tmp_path / "models") as daemon:
        with urllib.request.urlopen(f"http://127.0.0.1:{daemon.ports['http']}/languages", timeout=PATIENCE) as answer:
            listed = {entry["code"]: entry for entry in json.load(answer)}
    assert {code: entry.get("pivots") for code, entry in listed.items()} == {"de": None, "en": None, "fr": {"de": "en"}}
    assert listed["fr"]["targets"] == ["de", "en", "fr"]


def test_a_package_that_the_server_does_not_know_is_named(served, hub, tmp_path):
    """As of a converter that is newer than the server."""
    os.link(BINARY, tmp_path / "millrace")
    (tmp_path / PROGRAM.name).write_text(f'#!/bin/sh\n"{PROGRAM}" "$@"\necho "newer_field: 1" >>"{models_of(served)}/newer/1/model.pbtxt"\n')
    (tmp_path / PROGRAM.name).chmod(0o755)
    pulled = client(served, hub, "pull", "opus-mt-en-de", "--as", "newer", binary=tmp_path / "millrace")
    assert pulled.returncode == 1 and err(pulled).count("\n") == 1
    assert f"newer: {served.address} does not load it: " in err(pulled) and "newer_field" in err(pulled)
    assert client(served, hub, "remove", "newer").returncode == 0
    pulled = client(served, hub, "pull", "opus-mt-en-de", "--as", "newer", "--json", binary=tmp_path / "millrace")
    told = json.loads(out(pulled).splitlines()[-1])
    assert (pulled.returncode, told["event"], told["name"]) == (1, "error", "newer") and "newer_field" in told["message"]
    assert client(served, hub, "remove", "newer").returncode == 0


def test_a_program_that_was_ended_by_a_signal_is_named(tmp_path):
    os.link(BINARY, tmp_path / "millrace")
    (tmp_path / PROGRAM.name).write_text("#!/bin/sh\nkill -9 $$\n")
    (tmp_path / PROGRAM.name).chmod(0o755)
    ended = run("add", tmp_path, binary=tmp_path / "millrace")
    assert ended.returncode == 128 + signal.SIGKILL and err(ended).count("\n") == 1
    assert "millrace-models was ended by signal 9, Killed; nothing half made is installed" in err(ended)


def test_a_text_is_spoken_and_translated_by_what_was_pulled_for_its_language(hub, tmp_path):
    for key, language in (("en_US-lessac-medium", None), ("de_DE-thorsten-medium", "de"), ("en_US-amy-medium", None)):
        mirror.publish_voice(hub, key, language)
        pulled = run("pull", f"piper/{key}", "--models", tmp_path / "models", **hub.environment)
        assert pulled.returncode == 0, err(pulled)
    assert run("pull", "firefox/en-de", "firefox/fr", "--models", tmp_path / "models", **hub.environment).returncode == 0
    with daemons.start(tmp_path, models=tmp_path / "models") as daemon:
        def model_for(text, voice=""):
            return daemon.synthesis.Synthesize(synthesis.SynthesizeRequest(text=text, voice=voice), timeout=PATIENCE).model
        assert model_for("Guten Morgen, wie geht es Ihnen heute?") == "de_de-thorsten-medium"
        assert model_for("Good morning, how are you today?").startswith("en_us-")
        assert {model_for("Good morning.", voice) for voice in ("alloy", "ash")} == {"en_us-lessac-medium", "en_us-amy-medium"}
        listed = out(run("translate", "--list-languages", "--address", daemon.address)).splitlines()
        assert [line.split()[:3] for line in listed[1:]] == [["en", "de", "-"], ["en", "fr", "-"], ["fr", "de", "en"], ["fr", "en", "-"]]
