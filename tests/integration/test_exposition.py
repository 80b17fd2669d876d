"""The page of metrics as a whole: names, types, help texts, labels and the counts of known traffic, which dashboards and alerts
of users depend on."""

import os
import pathlib
import re
import urllib.request

import pytest
from wire import collector as collectors
from wire import daemon as daemons
from wire import repository
from wire.daemon import err, run
from wire.paths import EN_PT, NULL, ROOT, VOICE
from wire.requests import PATIENCE, null_request, refused, speak_request, translate_request
from wire.stubs import admin
from wire.traces import SOON

RECORD = pathlib.Path(__file__).with_name("exposition.txt")
KEY = "the-key-of-app"
POLICY = """
default = "all"

[tiers.all]

[tiers.few]
requests_per_minute = 6
keys = ["app"]
"""
OPEN_METRICS = "application/openmetrics-text"
# Where each worker compiles on its own.
ON_MPS = {"millrace_worker_graph_cache_entries", "millrace_worker_graph_cache_hits_total", "millrace_worker_graph_cache_misses_total",
          "millrace_worker_compiled_shapes"}

# What differs from machine to machine, and from run to run: times, sizes, what the processor and the threads do.
VARYING = re.compile(r"_seconds(_sum|_total)?$|_bytes$|^process_|^millrace_(permits|stream_lease|streams_leased|compiled_shapes|graph_cache_|tokens"
                     r"|trace_spans|http_refused|connections$|helped"
                     r"|(batch_size|compute_duration_seconds|permit_wait_seconds)_(count|sum)$)")
BUILD_LABELS = re.compile(r'(cpu_isa|libtorch|version)="[^"]*"')
SAMPLE = re.compile(r"^(\w+)(\{.*\})? (\S+)$")
BOUND = re.compile(r'le="([^"]*)"')


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """A daemon that has done something of each kind that its page tells of."""
    folder = tmp_path_factory.mktemp("busy")
    keys, policy = folder / "keys", folder / "policy.toml"
    for name, key, *role in (("app", KEY), ("root", "the-key-of-root", "--role", "admin")):
        made = run("hash-key", name, *role, "--stdin", "--append", keys, stdin=key.encode())
        assert made.returncode == 0, err(made)
    policy.write_text(POLICY)
    policy.chmod(0o600)
    models = repository.link(folder / "models", NULL, EN_PT, VOICE)
    with collectors.by_grpc() as collector, \
            daemons.start(folder, "--workers", "1", "--api-keys", keys, "--policy", policy, "--trace-endpoint", collector.url,
                          "--trace-protocol", "grpc", "--unload-idle-after", "1h", "--speech-cache-bytes", "16MiB", models=models, **SOON) as daemon:
        keep_busy(daemon, models)
        daemon.wait_until_idle()
        yield daemon


def keep_busy(daemon, models):
    app, root = ([("authorization", f"Bearer {key}")] for key in (KEY, "the-key-of-root"))
    for _ in range(3):
        daemon.kserve.ModelInfer(null_request(), metadata=app, timeout=PATIENCE)
    daemon.translation.Translate(translate_request("Good morning."), metadata=app, timeout=PATIENCE)
    for _ in range(2):   # the second one is heard from the cache
        daemon.synthesis.Synthesize(speak_request("One. Two."), metadata=app, timeout=PATIENCE)
    assert refused(daemon.kserve.ModelInfer, null_request(model_name="nobody"), metadata=app).code().name == "NOT_FOUND"
    assert refused(daemon.synthesis.Synthesize, speak_request("Hello.", speed=9), metadata=app).code().name == "INVALID_ARGUMENT"
    assert refused(daemon.kserve.ModelInfer, null_request(), metadata=app).code().name == "RESOURCE_EXHAUSTED"
    assert refused(daemon.raw("none.Service/Call"), b"").code().name == "UNIMPLEMENTED"
    assert daemon.http("/v2/models")[0] == 401
    (models / "broken" / "1").mkdir(parents=True)
    (models / "broken" / "1" / "model.pbtxt").write_text("nothing: 1")
    refused(daemon.admin.LoadModel, admin.LoadModelRequest(model="broken"), metadata=root)


def page_of(daemon, accept):
    request = urllib.request.Request(f"http://127.0.0.1:{daemon.ports['metrics']}/metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def families_of(page):
    """The families of a page by name: type and help text, then the samples, sorted. The buckets of a histogram are one line, without counts;
    values that vary are '*'."""
    families = {}
    for line in page.removesuffix("# EOF\n").splitlines():
        if line.startswith("#"):
            _, word, name, text = line.split(" ", 3)
            samples = families.setdefault(name, {})
            samples[word] = text
            continue
        name, labels, value = SAMPLE.match(line.split(" # ")[0]).groups(default="")
        if bound := BOUND.search(labels):
            key = name + BOUND.sub('le="..."', labels)
            samples[key] = f"{samples.get(key, '')} {float(bound[1]):g}".strip()
            continue
        if name == "millrace_build_info":
            labels = BUILD_LABELS.sub(r'\1="*"', labels)
        samples[name + labels] = "*" if VARYING.search(name) else f"{float(value):g}"
    return {name: sorted(f"{key} {value}" for key, value in samples.items()) for name, samples in families.items()}


def samples_of(families):
    return {sample.split("{")[0].split(" ")[0] for samples in families.values() for sample in samples} - {"HELP", "TYPE"}


def test_the_page_is_as_it_was_recorded(busy):
    """A family may be added. One that goes, or has another help text or other labels, breaks somebody's dashboard: record it anew, with
    MILLRACE_RECORD_EXPOSITION=1, only where that is wanted."""
    families = families_of(page_of(busy, "text/plain"))
    if os.environ.get("MILLRACE_RECORD_EXPOSITION"):
        RECORD.write_text("".join(f"{name}\n" + "".join(f"  {line}\n" for line in families[name]) for name in sorted(families)))
    recorded = {}
    for block in re.split(r"\n(?! )", RECORD.read_text().rstrip()):
        name, *lines = block.splitlines()
        recorded[name] = [line.strip() for line in lines]
    assert len(recorded) > 60
    assert {name: families.get(name) for name in recorded} == recorded


def test_both_formats_tell_the_same(busy):
    text = families_of(page_of(busy, "text/plain"))
    open_metrics = page_of(busy, OPEN_METRICS)
    assert open_metrics.endswith("\n# EOF\n")
    counters = {name.removesuffix("_total"): name for name in text if "TYPE counter" in text[name]}
    assert {counters.get(name, name): lines for name, lines in families_of(open_metrics).items()} == text


def test_dashboard_and_alerts_show_what_is_there(busy):
    """Every family is on the dashboard, and every series that the dashboard and the alerts read is on the page."""
    families = families_of(page_of(busy, "text/plain"))
    dashboard, alerts = ((ROOT / "deploy" / path).read_text() for path in ("grafana/millrace.json", "prometheus/alerts.yml"))
    shown = [name for name in families if name.startswith("millrace_")]
    assert len(shown) > 60
    assert [name for name in shown if name not in dashboard] == [], "metrics without a panel of deploy/grafana/dashboard.py"
    for page in (dashboard, alerts):
        used = set(re.findall(r"\b(millrace_[a-z_]+)[{\[ ]", page))
        assert len(used) > 5
        assert used - samples_of(families) - ON_MPS == set(), "series that are read and are not on the page of metrics"


def test_names_carry_their_units(busy):
    for name, lines in families_of(page_of(busy, "text/plain")).items():
        counts, measures = "TYPE counter" in lines, "TYPE histogram" in lines
        assert name.endswith("_total") == counts, name
        assert not measures or name.endswith("_seconds") or name == "millrace_batch_size"
