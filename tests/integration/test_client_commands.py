"""The commands that are clients of a running daemon: translate, synthesize, models, bench-null."""

import io
import json
import os
import re
import signal
import socket
import subprocess
import wave
import zipfile

import pytest
from wire import repository
from wire.daemon import err, out, run
from wire.paths import BINARY, EN_PT, KOKORO, MODELS, NULL, PT_EN, VOICE
from wire.polling import eventually

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def client(daemon, *arguments, **settings):
    return run(*arguments, "--address", daemon.address, **settings)


# --- translate ---

def test_translate_prints_the_translation_alone(daemon):
    ended = client(daemon, "translate", "Thank you very much.", "--model", EN_PT)
    assert (ended.returncode, err(ended)) == (0, "")
    assert out(ended).endswith(".\n") and out(ended).count("\n") == 1 and "obrigad" in out(ended).lower()


def test_translate_finds_the_model_by_languages(daemon):
    ended = client(daemon, "translate", "Muito obrigado.", "--source", "pt", "--target", "en")
    assert ended.returncode == 0 and "hank" in out(ended)


def test_translate_takes_a_glossary(daemon, tmp_path):
    (tmp_path / "terms.tsv").write_bytes("\ufeffstation\tterminal\r\n\nnearest\tmais perto\n".encode())
    text = "Where is the nearest station?"
    ended = client(daemon, "translate", text, "--target", "pt", "--source", "en", "--glossary", tmp_path / "terms.tsv")
    assert ended.returncode == 0, err(ended)
    assert "terminal" in out(ended) and "mais perto" in out(ended)
    for content, words in [(b"station\n", ["line 1", "a tab"]), (b"a\tb\n\nc\td\te\n", ["line 3", "a tab"]), (b"\tb\n", ["line 1"]),
                           (b"a\tb\na\tc\n", ["glossary[1]", "'a'"]), (b"\xff", ["UTF-8"]), (None, ["none.tsv"])]:
        if content is not None:
            (tmp_path / "terms.tsv").write_bytes(content)
        file = tmp_path / ("none.tsv" if content is None else "terms.tsv")
        ended = client(daemon, "translate", text, "--target", "pt", "--source", "en", "--glossary", file)
        assert (ended.returncode, out(ended), err(ended).count("\n")) == (1, "", 1)
        assert all(word in err(ended) for word in words), err(ended)


def test_translate_reads_standard_input(daemon):
    ended = client(daemon, "translate", "-", "--model", EN_PT, stdin=b"Thank you very much.\nThank you very much.\n")
    first, second = out(ended).splitlines()
    assert ended.returncode == 0 and first == second


def test_an_input_that_is_closed_is_told_so(daemon):
    """The text must not come from the file or socket that gets its number."""
    for arguments in (["translate", "-", "--target", "pt"], ["synthesize", "-"], ["hash-key", "ann", "--stdin"]):
        connection = [] if arguments[0] == "hash-key" else ["--address", daemon.address]
        ended = run(*arguments, *connection, under=("sh", "-c", 'exec "$0" "$@" <&-'))
        assert (ended.returncode, err(ended)) == (1, "millrace: standard input cannot be read: Bad file descriptor\n")


def test_translate_lists_languages_and_detects_them(daemon):
    listed = client(daemon, "translate", "--list-languages")
    assert listed.returncode == 0
    assert [line.split() for line in out(listed).splitlines()] == [
        ["SOURCE", "TARGET", "PIVOT", "MODELS"], ["en", "pt", "-", EN_PT], ["pt", "en", "-", PT_EN]]
    detected = client(daemon, "translate", "Onde fica a estação mais próxima?", "--detect")
    assert detected.returncode == 0 and out(detected).startswith("pt 0.9")
    unknown = client(daemon, "translate", "42", "--detect")
    assert (unknown.returncode, out(unknown)) == (1, "") and "cannot be told" in err(unknown)
    found = client(daemon, "translate", "Muito obrigado pela ajuda.", "--source", "auto", "--target", "en")
    assert found.returncode == 0 and "hank" in out(found)


def test_translate_writes_documents(daemon, tmp_path):
    """Those of the HTTP API: the text of each is what it makes of them."""
    film = tmp_path / "film.srt"
    film.write_text("1\n00:00:01,000 --> 00:00:02,500\nGood morning, my friend.\n\n2\n00:00:03,000 --> 00:00:04,000\nThank you.\n")
    ended = client(daemon, "translate", "--file", film, "--target", "pt")
    assert (ended.returncode, err(ended)) == (0, "")
    lines = out(ended).split("\n")
    assert (lines[:2], lines[4:6]) == (["1", "00:00:01,000 --> 00:00:02,500"], ["2", "00:00:03,000 --> 00:00:04,000"])
    assert lines[2] == "Bom dia, meu amigo." and "brigad" in lines[6]
    letter = tmp_path / "letter.docx"
    with zipfile.ZipFile(letter, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>Good morning.</w:t></w:r></w:p></w:body></w:document>')
    ended = client(daemon, "translate", "--file", letter, "--target", "pt")
    assert (ended.returncode, err(ended)) == (0, "")
    with zipfile.ZipFile(io.BytesIO(ended.stdout)) as archive:
        assert ">Bom dia.</w:t>" in archive.read("word/document.xml").decode()
    letter.write_bytes(b"no zip")
    ended = client(daemon, "translate", "--file", letter, "--target", "pt")
    assert (ended.returncode, out(ended)) == (1, "") and err(ended).startswith(f"millrace: {letter}: is not a zip archive")
    settings = tmp_path / "en.yml"
    settings.write_text("title: Good morning.\n")
    ended = client(daemon, "translate", "--file", settings, "--target", "pt")
    assert (ended.returncode, out(ended)) == (1, "")
    for word in ["en.yml' ends with no extension that is supported", ".srt, .vtt", "--format text"]:
        assert word in err(ended)
    assert "Bom dia." in out(client(daemon, "translate", "--file", settings, "--target", "pt", "--format", "text"))


@pytest.mark.parametrize("command", [("translate",), ("translate", "--detect"), ("synthesize", "-o", "-")],
                         ids=lambda command: " ".join(command[:2]))
def test_text_that_is_not_utf8_is_refused_in_one_line(daemon, command):
    ended = client(daemon, command[0], "-", *command[1:], stdin=b"ol\xe1")
    assert (ended.returncode, out(ended), err(ended)) == (1, "", "millrace: text: is not valid UTF-8\n")


@pytest.mark.parametrize("arguments, words", [
    (["Hello.", "--model", "nobody"], ["model", "nobody", EN_PT]),
    (["Hello."], ["--target, --model: are empty", EN_PT, PT_EN]),
    (["Hello.", "--target", "xx"], ["--target: no loaded model translates to 'xx'", "en to pt"]),
    (["Hello.", "--source", "xx"], ["--source: no loaded model translates from 'xx'", "en to pt"]),
    (["Hello.", "--source", "en", "--target", "xx"], ["--source, --target: no loaded model translates from 'en' to 'xx'"]),
    (["", "--model", EN_PT], ["text: is empty"]),
    (["Hello.", "--model", EN_PT, "--alternatives", "2"], ["--alternatives: this model", "likeliest word"]),
], ids=["unknown model", "no model", "unknown target", "unknown source", "unknown pair", "empty text", "alternatives"])
def test_translate_says_what_the_server_refused(daemon, arguments, words):
    ended = client(daemon, "translate", *arguments)
    assert (ended.returncode, out(ended)) == (1, "")
    for word in words:
        assert word in err(ended)


@pytest.mark.parametrize("arguments", [
    ["translate", "--file", "missing", "--target", "pt"], ["translate", "Hello.", "--target", "pt", "--glossary", "missing"],
    ["synthesize", "--file", "missing"], ["models", "--tls-ca", "missing"]])
def test_a_missing_file_is_told_with_the_reason(daemon, tmp_path, arguments):
    ended = client(daemon, *arguments, cwd=tmp_path)
    assert (ended.returncode, out(ended)) == (1, "")
    assert err(ended).endswith("missing: cannot be read: No such file or directory\n")


@pytest.mark.parametrize("command", ["load", "unload"])
def test_a_name_that_is_none_is_told_with_what_is_allowed(daemon, command):
    ended = client(daemon, command, "a b")
    assert ended.returncode == 1
    assert "model: 'a b' is no name of a model, allowed are 1..128 letters" in err(ended)


# --- synthesize ---

def check_wav(data):
    with wave.open(io.BytesIO(data)) as audio:
        assert (audio.getnchannels(), audio.getsampwidth(), audio.getframerate()) == (1, 2, 22050)
        assert 0.3 < audio.getnframes() / 22050 < 5
        assert any(audio.readframes(audio.getnframes()))


def test_synthesize_writes_a_file(daemon, tmp_path):
    ended = client(daemon, "synthesize", "Good morning.", "-o", tmp_path / "speech.wav", "--voice", "joe", "--model",
                   VOICE)
    assert (ended.returncode, out(ended)) == (0, "")
    assert "s of audio" in err(ended)
    check_wav((tmp_path / "speech.wav").read_bytes())


def test_synthesize_writes_to_standard_output(daemon, tmp_path):
    # A pipe gets the header before the length is known; a file gets the length at the end.
    ended = client(daemon, "synthesize", "-", "-o", "-", "--model", VOICE, stdin=b"Good morning.")
    assert ended.returncode == 0
    assert ended.stdout[:4] == b"RIFF" and 0.3 < len(ended.stdout[44:]) / 2 / 22050 < 5
    with open(tmp_path / "out.wav", "wb") as file:
        subprocess.run([BINARY, "synthesize", "Good morning.", "-o", "-", "--model", VOICE, "--address", daemon.address], stdout=file,
                       stderr=subprocess.DEVNULL, timeout=60, check=True)
    check_wav((tmp_path / "out.wav").read_bytes())


def test_synthesize_writes_out_wav_by_default(daemon, tmp_path):
    assert client(daemon, "synthesize", "Good morning.", "--model", VOICE, cwd=tmp_path).returncode == 0
    check_wav((tmp_path / "out.wav").read_bytes())


def player(folder, script):
    """A PATH with nothing but a player that does so with its standard input."""
    program = folder / "bin" / "aplay"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": str(program.parent)}


def test_synthesize_plays(daemon, tmp_path):
    path = player(tmp_path, f'[ "$*" = "-q -" ] && exec /bin/cat > {tmp_path}/heard.wav')
    (tmp_path / "work").mkdir()
    for output in ([], ["-o", "kept.wav"]):
        ended = client(daemon, "synthesize", "Good morning.", "--play", *output, "--model", VOICE, cwd=tmp_path / "work", **path)
        assert (ended.returncode, out(ended)) == (0, ""), err(ended)
        heard = (tmp_path / "heard.wav").read_bytes()
        assert heard[:4] == b"RIFF" and 0.3 < len(heard[44:]) / 2 / 22050 < 5
        assert [file.name for file in (tmp_path / "work").iterdir()] == output[1:]
    check_wav((tmp_path / "work" / "kept.wav").read_bytes())
    assert (tmp_path / "work" / "kept.wav").read_bytes()[44:] == heard[44:]


@pytest.mark.parametrize("script, said", [
    (None, "no player is in PATH; install one of: aplay, ffplay, play, mpv"),
    ("echo no sound card >&2; exit 3", "aplay ended with status 3"),
    ("/bin/cat > /dev/null; exit 4", "aplay ended with status 4"),
    ("kill -9 $$", "aplay"),
])
def test_synthesize_tells_why_nothing_was_played(daemon, tmp_path, script, said):
    path = player(tmp_path, script) if script else {"PATH": str(tmp_path)}
    ended = client(daemon, "synthesize", "Good morning. " * 20, "--play", "--model", VOICE, cwd=tmp_path, **path)
    assert ended.returncode == 1 and said in err(ended)


def test_a_player_that_takes_no_more_is_stopped_with_the_command(daemon, tmp_path):
    path = player(tmp_path, f"echo $$ > {tmp_path}/process; exec /bin/sleep 60")
    command = [BINARY, "synthesize", "Good morning. " * 100, "--play", "--model", VOICE, "--address", daemon.address]
    with subprocess.Popen([str(part) for part in command], env=os.environ | path, stderr=subprocess.PIPE) as running:
        eventually("it plays", lambda: (tmp_path / "process").exists() and (tmp_path / "process").read_text().strip())
        running.send_signal(signal.SIGINT)
        assert b"interrupted" in running.stderr.read()
        assert running.wait(20) == 128 + signal.SIGINT
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "process").read_text()), 0)


@pytest.mark.parametrize("arguments, words", [
    (["Hello.", "--voice", "nobody"], ["voice", "nobody", "joe"]),
    (["😀"], ["text", "letter or a digit"]),
    (["Hello.", "-o", "/nonexistent/folder/x.wav"], ["/nonexistent/folder/x.wav"]),
], ids=["unknown voice", "emoji", "folder"])
def test_synthesize_says_what_went_wrong_and_leaves_no_file(daemon, tmp_path, arguments, words):
    ended = client(daemon, "synthesize", *arguments, "--model", VOICE, cwd=tmp_path)
    assert ended.returncode == 1
    for word in words:
        assert word in err(ended)
    assert list(tmp_path.iterdir()) == []


def test_synthesize_writes_when_each_word_is_heard(daemon, tmp_path):
    for name in ("times.json", "times.vtt"):
        ended = client(daemon, "synthesize", "Good morning, all. Bye!", "--model", VOICE, "--timestamps", name, cwd=tmp_path)
        assert ended.returncode == 0, err(ended)
    times = json.loads((tmp_path / "times.json").read_text())
    assert [(word["text"], word["sentence_index"]) for word in times["words"]] == [("Good", 0), ("morning", 0), ("all", 0), ("Bye", 1)]
    assert len(times["phonemes"]) > 20
    cues = (tmp_path / "times.vtt").read_text().split("\n\n")
    assert cues[0] == "WEBVTT" and len(cues) == 3
    assert re.sub("<.*?>", "", cues[1].splitlines()[1]) == "Good morning, all."
    assert cues[2].splitlines()[1] == "Bye!"


def test_synthesize_speaks_phonemes_and_languages(daemon, tmp_path):
    for arguments in (["Hello.", "-o", "text.wav"], ["həlˈoʊ.", "--phonemes", "-o", "phonemes.wav"],
                      ["Hello.", "--language", "en-US", "-o", "language.wav"]):
        ended = client(daemon, "synthesize", *arguments, "--model", VOICE, cwd=tmp_path)
        assert ended.returncode == 0, err(ended)
    sounds = {(tmp_path / name).read_bytes() for name in ("text.wav", "phonemes.wav", "language.wav")}
    assert len(sounds) == 1
    ended = client(daemon, "synthesize", "ねこ。", "--language", "ja", "--model", VOICE, cwd=tmp_path)
    assert ended.returncode == 1 and "'ja'" in err(ended)


@pytest.mark.parametrize("option, name, allowed", [("-o", "hello.aac", ".wav, .flac, .mp3, .opus or .ogg, .pcm or .raw"),
                                                   ("--timestamps", "hello.srt", ".vtt, .json")])
def test_synthesize_refuses_an_ending_that_names_no_format(tmp_path, option, name, allowed):
    ended = run("synthesize", "Hello.", option, name, cwd=tmp_path)
    assert ended.returncode == 2 and f"'{name}'" in err(ended) and allowed in err(ended)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("output", ["-", "/dev/full"])
def test_synthesize_notices_a_full_disk(daemon, output):
    with open("/dev/full", "wb") as full:
        ended = subprocess.run([BINARY, "synthesize", "Hello.", "--model", VOICE, "-o", output, "--address", daemon.address],
                               stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert ended.returncode == 1 and b"cannot be written" in ended.stderr


# --- models, bench-null, version ---

def test_models_lists_what_the_server_has(daemon):
    ended = client(daemon, "models")
    assert ended.returncode == 0
    rows = {line.split()[0]: line for line in out(ended).splitlines()[1:]}
    assert set(rows) == {NULL, EN_PT, PT_EN, VOICE}
    assert all(" READY " in line for line in rows.values())
    assert "en -> pt" in rows[EN_PT] and "joe" in rows[VOICE] and "22050 Hz" in rows[VOICE]


def test_models_lists_a_folder_without_a_server():
    ended = run("models", "--models", MODELS)
    assert ended.returncode == 0
    assert {line.split()[0] for line in out(ended).splitlines()[1:]} == {NULL, EN_PT, PT_EN, VOICE, KOKORO}


def test_models_of_a_folder_with_a_mistake_names_it(tmp_path):
    root = repository.link(tmp_path / "models", NULL)
    repository.copy(root, NULL, "typo", model_pbtxt=b'licence: "CC0-1.0"\n')
    ended = run("models", "--models", root)
    assert ended.returncode == 1
    assert "licence" in out(ended) and " AVAILABLE " in out(ended)
    missing = run("models", "--models", tmp_path / "nowhere")
    assert missing.returncode == 1 and str(tmp_path / "nowhere") in err(missing)


def test_bench_null_measures(daemon):
    ended = client(daemon, "bench-null", "--duration", "300ms", "--warmup", "100ms", "--concurrency", "4")
    assert ended.returncode == 0
    rate, p50, p99 = map(float, re.search(r"(\d+) requests/s, p50 ([\d.]+) ms, p99 ([\d.]+) ms", out(ended)).groups())
    assert rate > 10 and 0 < p50 <= p99


def test_bench_null_of_an_unknown_model_fails(daemon):
    ended = client(daemon, "bench-null", "--model", "nobody", "--duration", "200ms", "--warmup", "0s")
    assert ended.returncode == 1 and "nobody" in err(ended)


# --- a server that cannot be reached ---

@pytest.mark.parametrize("arguments", [["translate", "Hello."], ["synthesize", "Hello."], ["models"],
                                       ["bench-null", "--duration", "200ms", "--warmup", "0s"]], ids=lambda arguments: arguments[0])
def test_server_out_of_reach_is_said_with_its_address(tmp_path, arguments):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))   # taken, and nobody listens
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        ended = run(*arguments, "--address", address, cwd=tmp_path)
    assert (ended.returncode, out(ended)) == (1, "")
    assert address in err(ended) and "millrace serve" in err(ended)
    assert list(tmp_path.iterdir()) == []


def test_a_server_of_http_is_told_from_one_that_is_not_there(daemon):
    address = f"127.0.0.1:{daemon.ports['http']}"
    ended = run("models", "--address", address)
    assert (ended.returncode, err(ended)) == (1, f"millrace: {address} speaks HTTP/1.1, not gRPC: give the address of --grpc-address, "
                                                 "by default 127.0.0.1:8001\n")


def test_server_that_does_not_answer_is_given_up_at_the_timeout():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        ended = run("translate", "Hello.", "--address", address, "--timeout", "500ms")
    assert ended.returncode == 1 and address in err(ended)
