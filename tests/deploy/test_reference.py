"""The man pages and shell completions that packages install: each option that the help shows is in them, and their readers accept them."""

import re
import shutil
import subprocess

import pytest
from daemon import BINARY, ENVIRONMENT

PROGRAM = BINARY.with_name("millrace_reference")
FLAG = re.compile(r"^  (?:(-\w),)?(--[\w-]+)", re.MULTILINE)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    subprocess.run([PROGRAM, folder, "2026-11-24"], check=True)
    return folder


def help_of(*command):
    return subprocess.run([BINARY, *command, "--help"], capture_output=True, text=True, check=True, env=ENVIRONMENT).stdout


@pytest.fixture(scope="module")
def commands():
    """The flags of each command, as its help shows them."""
    names = re.findall(r"^  ([a-z][\w-]+) ", help_of().partition("Subcommands:")[2], re.MULTILINE)
    assert {"serve", "translate", "synthesize", "version"} <= set(names)
    return {name: {flag for pair in FLAG.findall(help_of(name)) for flag in pair if flag} for name in names}


def test_man_pages_name_each_command_and_flag(reference, commands):
    assert "--queue-size" in commands["serve"] and "-o" in commands["synthesize"]
    for command, flags in commands.items():
        page = "millrace-serve.1" if command in ("serve", "check") else "millrace.1"
        text = (reference / page).read_text().replace("\\-", "-")
        assert f"millrace {command}" in text
        assert flags <= set(re.findall(r"\\fB(-[\w-]+)\\fR", text)), command


def test_toml_page_names_each_key(reference):
    printed = subprocess.run([BINARY, "serve", "--print-config"], capture_output=True, text=True, check=True, env=ENVIRONMENT).stdout
    keys = set(re.findall(r"^(\w+) = ", printed, re.MULTILINE))
    assert len(keys) > 40
    assert keys == set(re.findall(r"^\\fB(\w+)\\fR = ", (reference / "millrace.toml.5").read_text(), re.MULTILINE))


@pytest.mark.parametrize("page", ["millrace.1", "millrace-serve.1", "millrace.toml.5"])
def test_readers_of_man_pages_have_no_warnings(reference, page):
    shown = subprocess.run(["man", "--warnings", "--encoding=UTF-8", "--local-file", reference / page], capture_output=True, text=True,
                           check=True, env=ENVIRONMENT | {"MANWIDTH": "100", "LC_ALL": "C.UTF-8", "MANROFFSEQ": ""})
    assert shown.stderr == "" and "SEE ALSO" in shown.stdout
    checked = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", reference / page], capture_output=True, text=True, check=False)
    assert checked.stdout == ""


def complete_in_bash(script, *words):
    """What bash would offer for the last word."""
    program = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _millrace; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "--norc", "-c", program, "bash", script, *words], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return set(done.stdout.split("\n")) - {""}


def test_bash_completes_commands_flags_words_and_files(reference, commands, tmp_path):
    script = reference / "millrace.bash"
    assert complete_in_bash(script, "millrace", "") == set(commands) | {"--help", "--version"}
    for command, flags in commands.items():
        assert complete_in_bash(script, "millrace", command, "-") == flags
    assert complete_in_bash(script, "millrace", "serve", "--log-format", "") == {"text", "json"}
    assert complete_in_bash(script, "millrace", "serve", "--log-format", "=", "j") == {"json"}
    assert complete_in_bash(script, "millrace", "serve", "--queue-size", "") == set()
    (tmp_path / "a key.pem").touch()
    assert complete_in_bash(script, "millrace", "serve", "--tls-key", f"{tmp_path}/a") == {f"{tmp_path}/a key.pem"}
    assert complete_in_bash(script, "millrace", "serve", "--models", f"{tmp_path}/a") == set()


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes_commands_flags_and_words(reference, commands):
    def complete(line):
        done = subprocess.run(["fish", "--no-config", "-c", f"source {reference}/millrace.fish; complete -C '{line}'"],
                              capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return {offer.partition("\t")[0] for offer in done.stdout.splitlines()}
    assert set(commands) <= complete("millrace ")
    for command, flags in commands.items():
        # It offers -o where --output has that short form.
        assert {flag for flag in flags if flag.startswith("--")} <= complete(f"millrace {command} --"), command
    assert complete("millrace serve --log-format ") == {"text", "json"}
    assert "--queue-size" not in complete("millrace translate --")


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_reads_the_completion_and_finds_each_flag(reference, commands):
    script = reference / "_millrace"
    for command, flags in commands.items():
        # zsh's own functions are replaced by ones that print what they were asked to complete.
        program = ("_arguments() { print -rl -- \"$@\"; state=arguments; line=(" + command + "); }; _describe() { print -rl -- \"${(P@)2}\"; }; "
                   "compdef() { :; }; source " + str(script) + "; _millrace")
        done = subprocess.run(["zsh", "-f", "-c", program], capture_output=True, text=True, check=True)
        assert done.stderr == ""
        assert flags <= set(re.findall(r"(?:^|\))(--?[\w-]+)=?\[", done.stdout, re.MULTILINE)), command
