"""The service files say what their service managers accept, and the daemon behaves as they promise."""

import plistlib
import re
import shutil
import socket
import subprocess
import xml.etree.ElementTree

import pytest
from daemon import ROOT, daemon

UNIT = ROOT / "deploy" / "systemd" / "millrace.service"
SOCKETS = sorted(UNIT.parent.glob("*.socket"))
PLIST = ROOT / "deploy" / "launchd" / "org.millrace.millrace.plist"
TOML = ROOT / "deploy" / "millrace.toml"
AVAHI = ROOT / "deploy" / "avahi" / "millrace.service"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_accepts_the_unit_and_rates_it_well(tmp_path):
    # verify insists on programs that exist; the daemon's own place is not filled on a build machine.
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/millrace/bin/millrace", "/bin/true"))
    verified = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert verified.returncode == 0 and verified.stderr == ""
    rated = subprocess.run(["systemd-analyze", "security", "--offline=true", unit], capture_output=True, text=True, check=False)
    exposure = float(re.search(r"exposure level for \S+: ([\d.]+)", rated.stdout)[1])
    assert exposure <= 2.0


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_accepts_the_socket_units(tmp_path):
    (tmp_path / UNIT.name).write_text(UNIT.read_text().replace("/opt/millrace/bin/millrace", "/bin/true"))
    for unit in SOCKETS:
        shutil.copy(unit, tmp_path)
    verified = subprocess.run(["systemd-analyze", "verify", *sorted(tmp_path.iterdir())], capture_output=True, text=True, check=False)
    assert verified.returncode == 0 and verified.stderr == ""


def test_socket_units_have_the_names_and_addresses_of_the_ports():
    addresses = dict(re.findall(r'^(\w+)_address = "(.*)"$', TOML.read_text(), re.MULTILINE))
    units = {unit.stem.removeprefix("millrace-"): unit.read_text() for unit in SOCKETS}
    assert units.keys() == addresses.keys()
    for name, unit in units.items():
        assert f"\nListenStream={addresses[name]}\nFileDescriptorName={name}\nService={UNIT.name}\n" in unit


def test_unit_leaves_more_time_to_stop_than_the_drain_takes():
    seconds = int(re.search(r"^TimeoutStopSec=(\d+)$", UNIT.read_text(), re.MULTILINE)[1])
    settings = dict(re.findall(r'^(drain[-_]\w+) *= *"(\d+)s"', TOML.read_text(), re.MULTILINE))
    assert len(settings) == 2
    assert seconds > sum(map(int, settings.values()))


def test_unit_waits_for_longer_than_a_stall_that_may_pass():
    """A polling thread that has not come round for 5 s counts as stalled, which is looked at each second."""
    assert int(re.search(r"^WatchdogSec=(\d+)$", UNIT.read_text(), re.MULTILINE)[1]) >= 20


def test_daemon_tells_systemd_when_it_serves_and_when_it_stops(tmp_path):
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(path))
        manager.settimeout(60)
        with daemon(tmp_path, NOTIFY_SOCKET=str(path)) as running:
            assert b"READY=1" in manager.recv(4096)
            # Ready means ready: the first request after it is served.
            assert running.client("translate", "Good morning.", "--model", "bergamot-en-pt").returncode == 0
        assert b"STOPPING=1" in manager.recv(4096)
        assert running.process.returncode == 0


def test_plist_is_well_formed_and_restarts_only_after_a_crash():
    plist = plistlib.loads(PLIST.read_bytes())
    assert plist["Label"] == PLIST.stem
    assert plist["ProgramArguments"][1] == "serve"
    assert plist["KeepAlive"] == {"SuccessfulExit": False}
    drain = plist["ProgramArguments"][plist["ProgramArguments"].index("--drain-timeout") + 1]
    assert plist["ExitTimeOut"] > int(drain.removesuffix("s"))


def test_avahi_announces_the_wyoming_port_as_home_assistant_looks_for_it():
    """By avahi-service.dtd: a name, then services of a type, perhaps more, and a port."""
    group = xml.etree.ElementTree.fromstring(AVAHI.read_bytes())
    assert group.tag == "service-group"
    name, service = group
    assert (name.tag, name.attrib) == ("name", {"replace-wildcards": "yes"}) and "%h" in name.text
    assert [part.tag for part in service] == ["type", "port"]
    assert service.findtext("type") == "_wyoming._tcp"
    assert service.findtext("port") == re.search(r'^#wyoming_address = ".*:(\d+)"$', TOML.read_text(), re.MULTILINE)[1]
