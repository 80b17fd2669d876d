#include "server/frontends/console/live_view.h"

#include <chrono>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/http2/connection_guard.h"
#include "server/json/json_text.h"
#include "server/metrics/process_stats.h"

namespace millrace::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

// The page draws so much of the past.
constexpr std::chrono::seconds kShown{10};

// A tenth of a millisecond is more than a screen shows.
double Milliseconds(Duration time) {
  return std::round(std::chrono::duration<double, std::milli>(time).count() * 10) / 10;
}

double Milliseconds(TimePoint time) { return Milliseconds(time.time_since_epoch()); }

// A histogram without its bounds: the counts of all values up to each bound, and of all.
OrderedJson CountsOf(const ShardedHistogram& histogram) {
  const prometheus::ClientMetric metric = histogram.Collect();
  OrderedJson counts = OrderedJson::array();
  for (const auto& bucket : metric.histogram.bucket) counts.push_back(bucket.cumulative_count);
  return {{"counts", std::move(counts)}, {"sum", metric.histogram.sample_sum}};
}

// The last bound, which all values are below, is left out.
OrderedJson BoundsOf(const ShardedHistogram& histogram) {
  OrderedJson bounds = OrderedJson::array();
  for (const auto& bucket : histogram.Collect().histogram.bucket) {
    if (std::isfinite(bucket.upper_bound)) bounds.push_back(bucket.upper_bound);
  }
  return bounds;
}

double RefusalsOf(const ModelMetrics& metrics) {
  double all = 0;
  for (const ShardedCounter* counter : metrics.refused) all += counter->Value();
  return all;
}

// Counts the requests that ended: with OK, because their client left, and otherwise.
OrderedJson EndsOf(const ModelMetrics& metrics) {
  double ok = 0;
  double cancelled = 0;
  double failed = 0;
  for (const auto& codes : metrics.requests) {
    for (size_t code = 0; code < codes.size(); ++code) {
      const double count = codes[code]->Value();
      if (code == static_cast<size_t>(absl::StatusCode::kOk)) {
        ok += count;
      } else if (code == static_cast<size_t>(absl::StatusCode::kCancelled)) {
        cancelled += count;
      } else {
        failed += count;
      }
    }
  }
  return {{"ok", ok}, {"cancelled", cancelled}, {"failed", failed}};
}

void AddCounts(const ServedModel& model, const Scheduler& scheduler, OrderedJson& json) {
  const ModelMetrics& metrics = model.metrics();
  json["task"] = std::string(models::ToString(model.info().task()));
  json["platform"] = model.info().platform;
  json["queue"] = {{"depth", scheduler.depth(model.queue())},
                   {"size", scheduler.capacity(model.queue())}};
  json["ended"] = EndsOf(metrics);
  json["refused"] = RefusalsOf(metrics);
  json["audio_seconds"] = metrics.audio_seconds.Value();
  json["characters"] = metrics.characters.Value();
  json["tokens"] = metrics.target_tokens.Value();
  const prometheus::ClientMetric batches = metrics.batch_size.Collect();
  json["batches"] = {{"count", batches.histogram.sample_count},
                     {"requests", batches.histogram.sample_sum}};
  json["queue_seconds"] = CountsOf(metrics.queue_seconds);
  json["first_audio_seconds"] = CountsOf(metrics.first_audio_seconds);
}

// Names of models are sent once, and by their places otherwise.
class Names {
 public:
  size_t PlaceOf(const std::string& name) {
    const auto [entry, is_new] = places_.try_emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return entry->second;
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::map<std::string, size_t> places_;
  std::vector<std::string> names_;
};

OrderedJson ToJson(const StepTimeline::Worker& worker, Names& names) {
  OrderedJson json = {{"steps", worker.steps},
                      {"requests", worker.requests},
                      {"busy_ms", Milliseconds(worker.busy)},
                      {"running", nullptr}};
  if (worker.running) {
    json["running"] = {{"model", names.PlaceOf(worker.running->model)},
                       {"requests", worker.running->requests},
                       {"begin_ms", Milliseconds(worker.running->begin)}};
  }
  OrderedJson& blocks = json["blocks"] = OrderedJson::array();
  for (const StepTimeline::Block& block : worker.blocks) {
    blocks.push_back({Milliseconds(block.begin), Milliseconds(block.end),
                      names.PlaceOf(block.model), block.requests, block.steps});
  }
  return json;
}

}  // namespace

std::string LiveView::Json(double since_ms, bool may_admin) const {
  Services& services = sources_.services;
  const Device device = sources_.device();
  const ProcessStats process = ReadProcessStats();
  const TimePoint now = services.clock.Now();
  TimePoint since = now - kShown;
  // Any number may come, even none.
  if (since_ms > Milliseconds(since) && since_ms <= Milliseconds(now)) {
    since = TimePoint(
        std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::milli>(since_ms)));
  }

  OrderedJson json = {
      {"version", sources_.view.Version()},
      {"device", device.name},
      {"ready", sources_.view.Ready()},
      {"degraded", sources_.view.Degraded()},
      {"keys", services.keys != nullptr},
      {"may_admin", may_admin && sources_.loads_models},
      {"now_ms", Milliseconds(now)},
      {"in_flight", services.admission.in_flight()},
      {"permits", {{"total", device.permits}, {"in_use", device.permits_in_use}}},
      {"streams", {{"leased", device.streams.leased}, {"refused", device.streams.refusals_total}}},
      {"memory",
       {{"resident_bytes", process.resident_bytes}, {"device_bytes", device.memory_bytes}}},
      {"cpu_seconds", process.cpu_seconds},
      {"started_at", process.start_time_seconds},
      {"graph_cache",
       {{"entries", device.graph_cache.entries},
        {"bytes", device.graph_cache.bytes},
        {"hits", device.graph_cache.hits},
        {"misses", device.graph_cache.misses},
        {"evictions", device.graph_cache.evictions}}},
      {"connections", ConnectionGuard::Process().counts().open},
      {"refused_without_model", RefusalsOf(services.no_model_metrics)},
      {"bounds", BoundsOf(services.no_model_metrics.queue_seconds)}};

  Names names;
  OrderedJson& workers = json["workers"] = OrderedJson::array();
  for (const StepTimeline::Worker& worker : sources_.steps.Read(since))
    workers.push_back(ToJson(worker, names));
  json["names"] = names.all();

  OrderedJson& pulls = json["pulls"] = OrderedJson::array();
  for (const PullView& pull : sources_.pulls()) {
    pulls.push_back({{"model", pull.model},
                     {"published", pull.published},
                     {"waiting", pull.waiting},
                     {"bytes", pull.progress.bytes},
                     {"size", pull.progress.size},
                     {"converting", pull.progress.converting}});
  }

  OrderedJson& all = json["models"] = OrderedJson::array();
  for (const ModelStatusView& model : sources_.view.Models()) {
    OrderedJson& entry =
        all.emplace_back(OrderedJson{{"name", model.info.name},
                                     {"version", StrCat(model.info.version)},
                                     {"state", std::string(ToString(model.state))}});
    if (!model.error.empty()) entry["error"] = model.error;
    if (const auto served = services.models.Find(model.info.name, ""); served.ok())
      AddCounts(**served, services.scheduler, entry);
  }
  return JsonText(json);
}

}  // namespace millrace::server
