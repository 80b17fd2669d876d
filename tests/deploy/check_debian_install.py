"""Installs the Debian package in a bare Debian, serves from it, upgrades it, fills its disk and purges it. On demand, as it takes minutes:
scripts/check-packages.sh runs it and says which package in DEBIAN_PACKAGE. The tests build upon each other, in their order."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import bare_root
import pytest
from daemon import MODELS, ROOT

sys.path.append(str(ROOT / "tests" / "integration"))
from wire import mirror  # noqa: E402

PACKAGE = pathlib.Path(os.environ["DEBIAN_PACKAGE"])
HOME = "/usr/lib/millrace"
INSTALL = "apt-get install -y -q -o Dpkg::Use-Pty=0 "
# By this link the unit is started at boot.
WANTED = "etc/systemd/system/multi-user.target.wants/millrace.service"
# What an administrator wrote into the configuration.
OWN_SETTING = "queue_size = 77\n"
# The program as the unit starts it, and clients; prints what they say and then the server's exit status.
SERVE = r"""
setpriv --reuid=millrace --regid=millrace --init-groups --no-new-privs millrace serve --config /etc/millrace/millrace.toml >log 2>&1 &
server=$!
for i in $(seq 600); do
  exec 3<>/dev/tcp/127.0.0.1/8000 && printf 'GET /v2/health/ready HTTP/1.0\r\n\r\n' >&3 && grep -q '^HTTP/1.[01] 200' <&3 && break
  kill -0 $server || { cat log; exit 1; }
  sleep 0.1
done 2>/dev/null
millrace translate "Good morning." --model bergamot-en-pt && millrace synthesize "Hello." --model piper-en-us-joe -o hello.wav &&
  head -c 4 hello.wav && echo
kill -TERM $server
wait $server
echo "stopped: $?"
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return bare_root.make(tmp_path_factory.mktemp("bare") / "root")


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    """The package with an older version, other defaults in its configuration, and without one of its files."""
    folder = tmp_path_factory.mktemp("older")
    subprocess.run(["dpkg-deb", "-R", PACKAGE, folder / "files"], check=True)
    control = folder / "files" / "DEBIAN" / "control"
    control.write_text(re.sub(r"^Version: .*$", "Version: 0.0.9-1", control.read_text(), flags=re.MULTILINE))
    configuration = folder / "files" / "etc" / "millrace" / "millrace.toml"
    configuration.write_text(configuration.read_text().replace('drain_delay = "5s"', 'drain_delay = "4s"'))
    shutil.rmtree(folder / "files" / "usr" / "share" / "fish")
    file = folder / "millrace_0.0.9-1_amd64.deb"
    subprocess.run(["dpkg-deb", "-Znone", "-b", folder / "files", file], check=True, stdout=subprocess.DEVNULL)
    return file


def installed_kib():
    return int(subprocess.run(["dpkg-deb", "-f", PACKAGE, "Installed-Size"], capture_output=True, text=True, check=True).stdout)


def traces(root):
    """Each path of the package that is left. man keeps a cache of pages that it has shown."""
    return set(root.ok(f"find / -xdev -name '*millrace*' ! -path '/proc/*' ! -path '/{bare_root.SCRATCH}/*' ! -path '/var/log/*' ! -path '/var/cache/man/*'").split())


def test_lintian_has_no_complaint():
    checked = subprocess.run(["lintian", "--fail-on", "error,warning", "--allow-root", PACKAGE], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout) == (0, ""), checked.stdout + checked.stderr


def test_full_disk_is_one_message_and_leaves_nothing(root):
    shutil.copy(PACKAGE, root.scratch / "millrace.deb")
    # The libraries of the distribution come first, so that only this package can fail.
    root.ok("apt-get update -q && " + INSTALL + "--no-install-recommends $(dpkg-deb -f ./millrace.deb Depends | "
            r"sed 's/([^)]*)//g; s/|[^,]*//g; s/,/ /g')")
    with root.small_disk(HOME, 100 * 1024):
        refused = root.run("dpkg -i ./millrace.deb")
        assert refused.returncode != 0
        [line] = [line for line in refused.stderr.splitlines() if line.startswith("millrace: ")]
        assert re.search(r"has \d+ MiB free, and unpacking takes \d+ MiB: nothing was changed", line)
        assert list((root.path / HOME.lstrip("/")).iterdir()) == []
    (root.path / HOME.lstrip("/")).rmdir()
    assert "Status: install ok installed" not in root.run("dpkg -s millrace").stdout
    assert root.ok("dpkg --audit") == ""
    assert traces(root) == set()


def test_new_user_installs_an_older_package(root, older):
    shutil.copy(older, root.scratch / "older.deb")
    root.ok(INSTALL + "./older.deb")
    assert "0.0.9-1" in root.ok("dpkg-query -W -f '${Version} ${Status}' millrace")
    # Recommended packages come along.
    assert root.ok("command -v espeak-ng") == "/usr/bin/espeak-ng\n"
    assert re.match(r"millrace:x:\d+:\d+:Millrace inference server:/var/lib/millrace:/usr/sbin/nologin\n", root.ok("getent passwd millrace"))
    assert (root.path / WANTED).is_symlink()
    assert root.ok("stat -c '%U %a' /var/lib/millrace/models") == "root 755\n"


def test_upgrade_onto_a_full_disk_leaves_the_older_version_at_work(root, older):
    # The files of the installed version take the place that the new ones need until those have replaced them.
    home = root.path / HOME.lstrip("/")
    shutil.move(home, root.scratch / "home")
    with root.small_disk(HOME, installed_kib() + 100 * 1024):
        shutil.copytree(root.scratch / "home", home, dirs_exist_ok=True, symlinks=True)
        refused = root.run("dpkg -i --force-confold ./millrace.deb")
        assert refused.returncode != 0
        assert len([line for line in refused.stderr.splitlines() if "nothing was changed" in line]) == 1
        assert root.ok("dpkg-query -W -f '${Version} ${Status}' millrace") == "0.0.9-1 install ok installed"
        assert root.ok("millrace version").startswith("millrace 0.")
    home.rmdir()
    shutil.move(root.scratch / "home", home)


def test_upgrade_keeps_the_configuration(root):
    toml = root.path / "etc" / "millrace" / "millrace.toml"
    toml.write_text(toml.read_text() + OWN_SETTING)
    keys = root.path / "etc" / "millrace" / "api-keys.off"
    keys.write_text("alice:user:" + 64 * "0" + "\n")
    root.ok("systemctl disable millrace.service")
    root.ok("dpkg -i --force-confold ./millrace.deb")
    assert "0.0.9" not in root.ok("dpkg-query -W -f '${Version}' millrace")
    assert toml.read_text().endswith(OWN_SETTING) and 'drain_delay = "4s"' in toml.read_text()
    # The new defaults lie beside it.
    assert 'drain_delay = "5s"' in toml.with_suffix(".toml.dpkg-dist").read_text()
    assert keys.exists()
    assert (root.path / "usr/share/fish/vendor_completions.d/millrace.fish").exists()
    # What an administrator has decided about the unit holds.
    assert not (root.path / WANTED).is_symlink()
    assert root.ok("millrace serve --config /etc/millrace/millrace.toml --print-config").count("queue_size = 77") == 1


def test_service_serves_from_the_package_without_a_network(root):
    refused = root.run("millrace check --config /etc/millrace/millrace.toml", network=False)
    assert refused.returncode == 1 and "holds no model" in refused.stdout
    models = root.path / "var/lib/millrace/models"
    for name in ("null", "bergamot-en-pt", "piper-en-us-joe"):
        shutil.copytree(MODELS / name, models / name)
    assert "FAILED" not in root.ok("setpriv --reuid=millrace --regid=millrace --init-groups millrace check --config /etc/millrace/millrace.toml",
                                   network=False)
    out = root.ok(SERVE, network=False)
    assert out.splitlines() == ["Bom dia.", "RIFF", "stopped: 0"]


def test_packages_of_python_that_are_missing_are_installed_by_the_line_that_names_them(root):
    root.ok("dpkg --remove --force-depends python3-numpy python3-sentencepiece python3-yaml")
    refused = root.run("millrace pull firefox/en-de", network=False)
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1, refused.stderr
    [packages] = re.findall(r"install them with: apt-get install ([a-z0-9 -]+),", refused.stderr)
    root.ok(INSTALL + packages)


def test_models_are_fetched_by_name_and_served(root, tmp_path):
    with mirror.start() as hub:
        mirror.publish_pair(hub, tmp_path, "en-de")
        mirror.publish_voice(hub, "en_US-lessac-medium")
        environment = " ".join(f"{name}={value}" for name, value in hub.environment.items())
        out = root.ok(f"env {environment} millrace pull --models /var/lib/millrace/models firefox/en-de piper/en_US-lessac-medium")
    assert "firefox-en-de: installed" in out
    served = root.ok(SERVE.replace("millrace translate", 'millrace translate "the cat." --model firefox-en-de >/dev/null && millrace synthesize "Hello." '
                                   "--model en_us-lessac-medium -o lessac.wav && head -c 4 lessac.wav && echo && millrace translate"), network=False)
    assert served.splitlines() == ["RIFF", "Bom dia.", "RIFF", "stopped: 0"]
    root.ok("millrace remove --models /var/lib/millrace/models firefox-en-de en_us-lessac-medium")


def test_man_page_and_completion_are_found(root):
    root.ok(INSTALL + "--no-install-recommends man-db bash-completion")
    # mmdebstrap keeps pages, which the containers' images leave out.
    assert "millrace-serve(1)" in root.ok("man --warnings 1 millrace | cat") and "queue_size" in root.ok("man 5 millrace.toml | cat")
    assert "synthesize" in root.ok(
        "source /usr/share/bash-completion/bash_completion; _completion_loader millrace; complete -p millrace >&2; "
        "COMP_WORDS=(millrace syn); COMP_CWORD=1; _millrace; echo ${COMPREPLY[@]}")


def test_removal_keeps_the_configuration_and_purge_leaves_the_models_alone(root):
    root.ok("dpkg --remove millrace")
    assert (root.path / "etc/millrace/millrace.toml").exists() and not (root.path / "usr/bin/millrace").exists()
    purged = root.run("dpkg --purge millrace")
    assert purged.returncode == 0 and "the models in /var/lib/millrace/models are kept" in purged.stderr
    assert traces(root) == {"/var/lib/millrace"}
    assert not list((root.path / "etc/systemd").rglob("millrace*"))


def test_purge_without_models_leaves_nothing(root):
    shutil.rmtree(root.path / "var/lib/millrace/models")
    (root.path / "var/lib/millrace").rmdir()
    root.ok("dpkg -i ./millrace.deb && dpkg --purge millrace")
    assert traces(root) == set()
    assert root.ok("dpkg --audit") == ""
