#!/usr/bin/env python3
"""Writes millrace.json, the Grafana dashboard, next to itself. Edit this file, run it, commit both; --check only compares."""

import json
import pathlib
import sys

TARGET = pathlib.Path(__file__).with_name("millrace.json")
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH = 24

# What the server, not the caller, did wrong.
FAILURES = 'code=~"INTERNAL|UNKNOWN|DATA_LOSS"'
ONE = '{job="$job", instance=~"$instance"}'


def selector(*more: str) -> str:
    """Label matchers of a series that has a model."""
    return "{" + ", ".join(['job="$job"', 'instance=~"$instance"', 'model=~"$model"', *more]) + "}"


def rate(metric: str, *more: str) -> str:
    return f"rate({metric}{selector(*more)}[$__rate_interval])"


def quantile(q: float, metric: str, by: str = "model") -> str:
    return f"histogram_quantile({q}, sum by ({by}, le) ({rate(metric + '_bucket')}))"


def quantiles(metric: str) -> list[tuple[str, str]]:
    return [(quantile(0.5, metric), "{{model}} p50"), (quantile(0.95, metric), "{{model}} p95"),
            (quantile(0.99, metric), "{{model}} p99")]


class Board:
    """Panels from left to right, top to bottom; ids are given in order, so that an unchanged panel keeps its own."""

    def __init__(self) -> None:
        self.panels: list[dict] = []
        self.x = self.y = self.height = 0

    def row(self, title: str) -> None:
        self._break()
        self._add({"type": "row", "title": title, "collapsed": False, "panels": []}, WIDTH, 1)
        self._break()

    def stat(self, title: str, expression: str, unit: str, description: str = "") -> None:
        self._add({
            "type": "stat", "title": title, "description": description, "targets": _targets([(expression, "")], instant=True),
            "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
            "options": {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value", "graphMode": "none"},
        }, 3, 4)

    def graph(self, title: str, queries: list[tuple[str, str]], unit: str, description: str = "", width: int = 8,
              stacked: bool = False) -> None:
        custom = {"fillOpacity": 30 if stacked else 5, "showPoints": "never",
                  "stacking": {"mode": "normal" if stacked else "none"}}
        self._add({
            "type": "timeseries", "title": title, "description": description, "targets": _targets(queries),
            "fieldConfig": {"defaults": {"unit": unit, "min": 0, "custom": custom}, "overrides": []},
            "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi", "sort": "desc"}},
        }, width, 8)

    def heatmap(self, title: str, expression: str, description: str, width: int = 8) -> None:
        targets = _targets([(expression, "{{le}}")])
        targets[0]["format"] = "heatmap"
        self._add({
            "type": "heatmap", "title": title, "description": description, "targets": targets,
            "options": {"calculate": False, "cellGap": 1, "yAxis": {"unit": "s"},
                        "color": {"mode": "scheme", "scheme": "Oranges", "steps": 64}},
        }, width, 8)

    def table(self, title: str, expression: str, columns: list[str], width: int = 12) -> None:
        targets = _targets([(expression, "")], instant=True)
        targets[0]["format"] = "table"
        self._add({
            "type": "table", "title": title, "targets": targets,
            "transformations": [{"id": "filterFieldsByName", "options": {"include": {"names": columns}}}],
            "fieldConfig": {"defaults": {}, "overrides": []},
        }, width, 5)

    def _add(self, panel: dict, width: int, height: int) -> None:
        if self.x + width > WIDTH:
            self._break()
        if panel["type"] != "row":
            panel["datasource"] = DATASOURCE
        panel["id"] = len(self.panels) + 1
        panel["gridPos"] = {"x": self.x, "y": self.y, "w": width, "h": height}
        self.panels.append(panel)
        self.x += width
        self.height = max(self.height, height)

    def _break(self) -> None:
        self.x, self.y, self.height = 0, self.y + self.height, 0


def _targets(queries: list[tuple[str, str]], instant: bool = False) -> list[dict]:
    return [{"refId": chr(ord("A") + i), "datasource": DATASOURCE, "expr": expression, "legendFormat": legend,
             "instant": instant, "range": not instant} for i, (expression, legend) in enumerate(queries)]


def _variable(name: str, query: str, **more) -> dict:
    return {"name": name, "label": name.capitalize(), "type": "query", "datasource": DATASOURCE, "refresh": 2, "sort": 1,
            "query": {"query": query, "refId": name}, "definition": query, **more}


def build() -> dict:
    board = Board()
    requests, duration = "millrace_requests_total", "millrace_request_duration_seconds"

    board.row("Overview")
    board.stat("Instances ready", f"sum(millrace_server_ready{ONE})", "none")
    board.stat("Requests", f"sum({rate(requests)})", "reqps")
    board.stat("Failing in the server", f'sum({rate(requests, FAILURES)}) / sum({rate(requests)})', "percentunit",
               description="Share of requests that end with INTERNAL, UNKNOWN or DATA_LOSS.")
    board.stat("Refused", f'sum({rate("millrace_requests_refused_total")})', "reqps")
    board.stat("In flight", f"sum(millrace_requests_in_flight{ONE})", "none")
    board.stat("p95 latency", f"histogram_quantile(0.95, sum by (le) ({rate(duration + '_bucket')}))", "s")
    board.stat("Speech per second", f'sum({rate("millrace_audio_seconds_total")})', "none",
               description="Seconds of speech made in a second.")
    board.stat("Up for", f"min(time() - process_start_time_seconds{ONE})", "s")
    board.table("What runs", f"millrace_build_info{ONE}", ["instance", "version", "libtorch", "device", "cpu_isa", "mode"])
    board.table("Models ready", f"millrace_models_ready{selector()}", ["instance", "model", "version", "task"])
    board.graph("Models that failed to load", [(f"sum by (model) (millrace_model_load_failed{ONE})", "{{model}}"),
                                               (f"sum(increase(millrace_model_load_failures_total{ONE}[$__rate_interval]))",
                                                "attempts")], "none",
                "1 for each model whose last load failed; an older version of it may serve. ListModels says why.", width=24)

    board.row("Requests")
    board.graph("Requests by code", [(f"sum by (code) ({rate(requests)}) > 0", "{{code}}")], "reqps", stacked=True)
    board.graph("Requests by model and method", [(f"sum by (model, method) ({rate(requests)}) > 0", "{{model}} {{method}}")],
                "reqps")
    board.graph("Refusals", [(f'sum by (model, reason) ({rate("millrace_requests_refused_total")})', "{{model}} {{reason}}")],
                "reqps", "Requests that were refused: others are in the way (deadline, queue_full, too_many, loading), they can "
                "never be done in time (never_fits), their key has used up a limit (key_limit), or the server stops (draining).")
    board.graph("Refused by the HTTP server", [(f"sum by (status) (rate(millrace_http_refused_total{ONE}[$__rate_interval]))", "{{status}}")],
                "reqps", "Requests without a key or a right, and those that reached no handler: malformed, unknown paths, bodies or headers "
                "that are not taken, too late, too many at once.")
    board.graph("Refused over gRPC", [(f"sum by (code) (rate(millrace_grpc_refused_total{ONE}[$__rate_interval]))", "{{code}}")],
                "reqps", "Calls without a key or a right, of unknown methods, and with messages that are not taken.")
    board.graph("Latency", quantiles(duration), "s", "From arrival to the last reply.", width=12)
    board.heatmap("Latency distribution", f"sum by (le) (increase({duration}_bucket{selector()}[$__rate_interval]))",
                  "Requests in each bucket of latency.", width=12)

    board.row("Where the time goes")
    board.graph("Queue time", quantiles("millrace_queue_duration_seconds"), "s", "Waiting in the queue, before all of a request's steps together.")
    board.graph("Compute time", quantiles("millrace_compute_duration_seconds"), "s", "The forward of one batch.")
    board.graph("Wait for a permit", quantiles("millrace_permit_wait_seconds"), "s",
                "Waiting of a worker with a full batch for its turn on the device.")
    board.graph("Time to first audio", quantiles("millrace_time_to_first_audio_seconds"), "s",
                "From arrival to the first audio of the reply.", width=8)
    board.graph("Busy with forwards", [(f'sum by (model) ({rate("millrace_compute_duration_seconds_sum")})', "{{model}}")],
                "none", "Forwards running at once, on average.", width=8, stacked=True)
    board.graph("Helped by idle workers", [(f'sum by (model) ({rate("millrace_helped_seconds_total")})', "{{model}}")],
                "none", "Idle workers that run parts of other workers' forwards, on average.", width=8, stacked=True)

    board.row("Load")
    board.graph("Oldest request in the queue", [(f"max by (model) (millrace_queue_oldest_seconds{selector()})", "{{model}}")], "s",
                "For how long the request that has waited longest has done so; it also rises where nothing finishes.", width=12)
    board.graph("Expected wait", [(f"max by (model) (millrace_expected_wait_seconds{selector()})", "{{model}}")], "s",
                "The forecast for a request that comes now, by which requests are admitted.", width=12)

    board.row("Executors")
    board.graph("Executors", [(f"sum by (state) (millrace_executors{ONE})", "{{state}}")], "none",
                "Processes that hold the models; 0 without --executors. A spare one waits for one that serves to die.", width=8)
    board.graph("Deaths and restarts", [
        (f"sum by (cause) (increase(millrace_executor_deaths_total{ONE}[$__rate_interval]))", "died: {{cause}}"),
        (f"sum(increase(millrace_executor_restarts_total{ONE}[$__rate_interval]))", "started again"),
        (f"sum(increase(millrace_executor_starts_failed_total{ONE}[$__rate_interval]))", "could not start"),
        (f"sum(increase(millrace_executors_recycled_total{ONE}[$__rate_interval]))", "recycled")], "none",
                "A death is no failed request by itself: its requests run again.", width=8)
    board.graph("Requests of executors that died", [
        (f"sum(increase(millrace_requests_replayed_total{ONE}[$__rate_interval]))", "run again"),
        (f"sum(increase(millrace_requests_convicted_total{ONE}[$__rate_interval]))", "convicted"),
        (f"max(millrace_without_executor_seconds{ONE})", "seconds without an executor"),
        (f"sum(millrace_server_degraded{ONE})", "degraded instances")], "none",
                "A convicted request has ended two executors; its copies are refused for an hour.", width=8)

    board.row("Models in memory")
    board.graph("Idle models", [(f"sum by (model) (millrace_model_idle{selector()})", "{{model}}")], "none",
                "Instances on which the model is not in memory until its next request; 0 without --unload-idle-after and "
                "--model-memory-budget.")
    board.graph("Estimated memory", [(f"sum by (model) (millrace_model_memory_bytes{selector()})", "{{model}}")], "bytes",
                "By the size of their files, over all instances.", stacked=True)
    board.graph("Unloads and loads on demand", [
        (f"sum by (reason) (increase(millrace_model_unloads_total{ONE}[$__rate_interval]))", "unloaded: {{reason}}"),
        (f"sum by (outcome) (increase(millrace_model_loads_on_demand_total{ONE}[$__rate_interval]))", "loaded: {{outcome}}")], "none",
                "Many of both mean that the budget is too small or the time too short.")
    board.graph("Loading on demand", [(f"rate(millrace_model_load_on_demand_seconds_total{ONE}[$__rate_interval])", "{{instance}}")],
                "percentunit", "Share of the time in which a model is loaded for a request.", width=12)
    board.graph("Requests that wait for a model", [(f"sum(millrace_requests_waiting_for_load{ONE})", "requests")], "none",
                "They wait while their model is loaded.", width=12)

    board.row("Batching and concurrency")
    board.graph("Queue depth", [(f"sum by (model) (millrace_queue_depth{selector()})", "{{model}}")], "none")
    board.graph("Batch size", [(f'sum by (model) ({rate("millrace_batch_size_sum")}) / sum by (model) '
                                f'({rate("millrace_batch_size_count")})', "{{model}} mean"),
                               (quantile(0.95, "millrace_batch_size"), "{{model}} p95")], "none")
    board.graph("In flight and permits", [(f"sum(millrace_requests_in_flight{ONE})", "requests in flight"),
                                          (f"sum(millrace_permits_in_use{ONE})", "permits in use"),
                                          (f"sum(millrace_permits{ONE})", "permits")], "none")

    board.graph("WebSockets", [(f"sum(millrace_websockets{ONE})", "open"),
                               (f"rate(millrace_websockets_opened_total{ONE}[$__rate_interval])", "opened a second")], "none")
    board.graph("gRPC connections", [(f"sum(millrace_connections{ONE})", "open"),
                                     (f"sum by (reason) (increase(millrace_connections_closed_total{ONE}[$__rate_interval]))",
                                      "closed: {{reason}}"),
                                     (f"increase(millrace_incomplete_calls_refused_total{ONE}[$__rate_interval])",
                                      "calls refused: no request arrived")], "none",
                "Open ones, and those that the server refused or closed: for want of room, or because of what their clients sent.")
    board.graph("gRPC polling delay", [(f"max(millrace_grpc_polling_delay_seconds{ONE})", "longest")], "s",
                "Time for which a thread that serves gRPC has not come round to new events. From 5 s on the server is not ready.")

    board.row("Output")
    board.graph("Speech", [(f'sum by (model) ({rate("millrace_audio_seconds_total")})', "{{model}}")], "none",
                "Seconds of speech made in a second.")
    board.graph("Tokens", [(f'sum by (model, direction) ({rate("millrace_tokens_total")})', "{{model}} {{direction}}")], "none",
                "Tokens a second, read (source) and produced (target).")
    board.graph("Characters", [(f'sum by (model) ({rate("millrace_characters_total")})', "{{model}}")], "none",
                "Characters of text a second.")

    board.row("Runtime")
    hits, misses = (f"rate(millrace_graph_cache_{kind}_total{ONE}[$__rate_interval])" for kind in ("hits", "misses"))
    board.graph("Graph cache hit ratio", [(f"1 - {misses} / clamp_min({hits} + {misses}, 1e-9)", "{{instance}}")], "percentunit",
                "Look-ups whose shape was already compiled; 100 % while there are none, as on the CPU.", width=6)
    board.graph("Graph cache entries", [(f"millrace_graph_cache_entries{ONE}", "{{instance}} entries"),
                                        (f"increase(millrace_graph_cache_misses_total{ONE}[$__rate_interval])", "{{instance}} missed"),
                                        (f"increase(millrace_graph_cache_evictions_total{ONE}[$__rate_interval])",
                                         "{{instance}} evicted")], "none", width=6)
    board.graph("Graph cache memory", [(f"millrace_graph_cache_bytes{ONE}", "{{instance}}")], "bytes", width=6)
    board.graph("Streams", [(f"millrace_streams_leased{ONE}", "{{instance}} leased"),
                            (f"increase(millrace_stream_leases_total{ONE}[$__rate_interval])", "{{instance}} new leases"),
                            (f"increase(millrace_stream_lease_refusals_total{ONE}[$__rate_interval])", "{{instance}} refused")],
                "none", "Of 31 streams, one for each worker. A refusal points to a leak.", width=6)
    board.graph("New shapes", [(f"increase(millrace_graph_cache_new_shapes_total{ONE}[$__rate_interval])", "{{instance}} {{outcome}}"),
                               (f"millrace_compiled_shapes{ONE}", "{{instance}} compiled")],
                "none", "Forwards of a shape that the frozen graph cache or the limit of compiled shapes kept out; and the shapes "
                "that Apple's GPU has compiled, which it keeps.")

    hits, misses = (f"rate(millrace_translation_cache_{kind}_total{ONE}[$__rate_interval])" for kind in ("hits", "misses"))
    board.graph("Translation cache hit ratio", [(f"{hits} / clamp_min({hits} + {misses}, 1e-9)", "{{instance}}")], "percentunit",
                "Sentences whose translation was remembered; 0 % without --translation-cache-bytes.", width=8)
    board.graph("Translation cache entries", [(f"millrace_translation_cache_entries{ONE}", "{{instance}} entries"),
                                              (f"increase(millrace_translation_cache_evictions_total{ONE}[$__rate_interval])",
                                               "{{instance}} evicted")], "none", width=8)
    board.graph("Translation cache memory", [(f"millrace_translation_cache_bytes{ONE}", "{{instance}}")], "bytes", width=8)
    hits, misses = (f"rate(millrace_speech_cache_{kind}_total{ONE}[$__rate_interval])" for kind in ("hits", "misses"))
    board.graph("Speech cache hit ratio", [(f"{hits} / clamp_min({hits} + {misses}, 1e-9)", "{{instance}}")], "percentunit",
                "Sentences whose audio was remembered; 0 % without --speech-cache-bytes.", width=8)
    board.graph("Speech cache entries", [(f"millrace_speech_cache_entries{ONE}", "{{instance}} entries"),
                                         (f"increase(millrace_speech_cache_evictions_total{ONE}[$__rate_interval])",
                                          "{{instance}} evicted")], "none", width=8)
    board.graph("Speech cache memory", [(f"millrace_speech_cache_bytes{ONE}", "{{instance}}")], "bytes", width=8)

    def by_key(metric: str) -> str:
        return f"sum by (key) (rate({metric}{ONE}[$__rate_interval]))"

    board.row("API keys, with --policy")
    board.graph("Worker time by key", [(by_key("millrace_key_worker_seconds_total"), "{{key}}")], "none",
                "Workers that each key keeps busy, on average. Keys that want more share by their weight.", stacked=True)
    board.graph("Requests by key", [(by_key("millrace_key_requests_total"), "{{key}}"),
                                    (f"sum by (key) (millrace_key_requests_in_flight{ONE})", "{{key}} in flight")], "none",
                "Begun a second, and in flight.")
    board.graph("Refusals by key", [(f"sum by (key, limit) (rate(millrace_key_refused_total{ONE}[$__rate_interval]))",
                                     "{{key}} {{limit}}")], "reqps", "Requests beyond a limit of their key.")
    board.graph("Characters by key", [(by_key("millrace_key_characters_total"), "{{key}}")], "none", "A second.", width=12)
    board.graph("Speech by key", [(by_key("millrace_key_audio_seconds_total"), "{{key}}")], "none",
                "Seconds of speech made in a second.", width=12)

    board.row("Process")
    board.graph("Memory", [(f"process_resident_memory_bytes{ONE}", "resident {{instance}}"),
                           (f"millrace_device_memory_bytes{ONE}", "device {{instance}}")], "bytes")
    board.graph("CPU", [(f"rate(process_cpu_seconds_total{ONE}[$__rate_interval])", "{{instance}}")], "none", "Cores in use.")
    board.graph("Open files", [(f"process_open_fds{ONE}", "{{instance}}")], "none", "Connections count among them.")

    board.row("Traces")
    board.graph("Spans of traces", [(f"rate(millrace_trace_spans_exported_total{ONE}[$__rate_interval])", "{{instance}} exported"),
                                    (f"rate(millrace_trace_spans_dropped_total{ONE}[$__rate_interval])", "{{instance}} dropped: {{reason}}")],
                "ops", "A second: taken by the collector, and dropped. 0 unless requests are traced.", width=12)
    board.graph("Spans that wait", [(f"millrace_trace_spans_queued{ONE}", "{{instance}}")], "none",
                "In the queue of the export, which drops spans when it is full.", width=12)

    # Other devices have the totals only, which each query falls back to.
    board.row("Workers on Apple's GPU with a patched libtorch")
    board.graph("Shapes of each worker", [
        (f"millrace_worker_graph_cache_entries{ONE} or millrace_graph_cache_entries{ONE}", "{{instance}} {{worker}} entries"),
        (f"millrace_worker_compiled_shapes{ONE} or millrace_compiled_shapes{ONE}", "{{instance}} {{worker}} compiled")],
                "none", "In its graph cache, and compiled by libtorch for it alone. Worker 0 is the main thread; no number: the total.",
                width=12)
    hits, misses = (f"rate(millrace_worker_graph_cache_{kind}_total{ONE}[$__rate_interval])"
                    f" or rate(millrace_graph_cache_{kind}_total{ONE}[$__rate_interval])" for kind in ("hits", "misses"))
    board.graph("Graph cache look-ups of each worker", [(hits, "{{instance}} {{worker}} hits"), (misses, "{{instance}} {{worker}} misses")],
                "ops", "A second. Misses after the warm-up are shapes that no warm-up ran.", width=12)

    return {
        "uid": "millrace", "title": "Millrace", "tags": ["millrace", "inference"], "schemaVersion": 39, "version": 1,
        "editable": True, "graphTooltip": 1, "refresh": "30s", "time": {"from": "now-1h", "to": "now"}, "timezone": "",
        "annotations": {"list": [{
            "name": "Restarts", "enable": True, "iconColor": "red", "datasource": DATASOURCE,
            "expr": f"changes(process_start_time_seconds{ONE}[1m]) > 0", "titleFormat": "{{instance}} restarted"}]},
        "templating": {"list": [
            {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "refresh": 1},
            _variable("job", "label_values(millrace_build_info, job)"),
            _variable("instance", 'label_values(millrace_build_info{job="$job"}, instance)', multi=True, includeAll=True,
                      allValue=".*"),
            _variable("model", 'label_values(millrace_models_ready{job="$job"}, model)', multi=True, includeAll=True,
                      allValue=".*"),
        ]},
        "panels": board.panels,
    }


def main() -> int:
    text = json.dumps(build(), indent=2) + "\n"
    if "--check" in sys.argv[1:]:
        if not TARGET.exists() or TARGET.read_text() != text:
            print(f"{TARGET.name} is not what {pathlib.Path(__file__).name} writes: run it", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
