#include "server/frontends/kserve/model_statistics.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "httplib.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/http/http_routes.h"
#include "server/http/http_status.h"
#include "server/json/json_text.h"
#include "server/scheduling/served_model.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

void Set(inference::StatisticDuration& duration, uint64_t count, uint64_t ns) {
  duration.set_count(count);
  duration.set_ns(ns);
}

// The counts have a clock that knows nothing of the date.
uint64_t MillisecondsSinceEpoch(TimePoint when, const Clock& clock) {
  const auto ago = std::max(clock.Now() - when, Duration::zero());
  const auto date = std::chrono::system_clock::now() -
                    std::chrono::duration_cast<std::chrono::system_clock::duration>(ago);
  const auto since =
      std::chrono::duration_cast<std::chrono::milliseconds>(date.time_since_epoch()).count();
  return static_cast<uint64_t>(std::max<int64_t>(since, 0));
}

void Describe(const ServedModel& model, const Clock& clock,
              inference::ModelStatistics& statistics) {
  const InferenceCounts::Totals totals = model.counts().Collect();
  statistics.set_name(model.info().name);
  statistics.set_version(StrCat(model.info().version));
  if (totals.last_step)
    statistics.set_last_inference(MillisecondsSinceEpoch(*totals.last_step, clock));
  statistics.set_inference_count(totals.success.count);
  statistics.set_execution_count(totals.steps);
  inference::InferStatistics& requests = *statistics.mutable_inference_stats();
  const uint64_t count = totals.success.count;
  Set(*requests.mutable_success(), count, totals.success.ns);
  Set(*requests.mutable_fail(), totals.failure.count, totals.failure.ns);
  Set(*requests.mutable_queue(), count, totals.queue_ns);
  Set(*requests.mutable_compute_input(), count, totals.input_ns);
  Set(*requests.mutable_compute_infer(), count, totals.infer_ns);
  Set(*requests.mutable_compute_output(), count, totals.output_ns);
  Set(*requests.mutable_cache_hit(), 0, 0);
  Set(*requests.mutable_cache_miss(), 0, 0);
  for (const InferenceCounts::Batches& batches : totals.batches) {
    inference::InferBatchStatistics& batch = *statistics.add_batch_stats();
    batch.set_batch_size(batches.requests);
    Set(*batch.mutable_compute_input(), batches.steps, batches.input_ns);
    Set(*batch.mutable_compute_infer(), batches.steps, batches.infer_ns);
    Set(*batch.mutable_compute_output(), batches.steps, batches.output_ns);
  }
}

Json DurationJson(const inference::StatisticDuration& duration) {
  return {{"count", duration.count()}, {"ns", duration.ns()}};
}

Json RequestsJson(const inference::InferStatistics& requests) {
  return {{"success", DurationJson(requests.success())},
          {"fail", DurationJson(requests.fail())},
          {"queue", DurationJson(requests.queue())},
          {"compute_input", DurationJson(requests.compute_input())},
          {"compute_infer", DurationJson(requests.compute_infer())},
          {"compute_output", DurationJson(requests.compute_output())},
          {"cache_hit", DurationJson(requests.cache_hit())},
          {"cache_miss", DurationJson(requests.cache_miss())}};
}

// Protobuf's own JSON has numbers of 64 bits as strings and lacks what is 0.
Json StatisticsJson(const inference::ModelStatisticsResponse& statistics) {
  Json models = Json::array();
  for (const inference::ModelStatistics& model : statistics.model_stats()) {
    Json batches = Json::array();
    for (const inference::InferBatchStatistics& batch : model.batch_stats()) {
      batches.push_back({{"batch_size", batch.batch_size()},
                         {"compute_input", DurationJson(batch.compute_input())},
                         {"compute_infer", DurationJson(batch.compute_infer())},
                         {"compute_output", DurationJson(batch.compute_output())}});
    }
    models.push_back({{"name", model.name()},
                      {"version", model.version()},
                      {"last_inference", model.last_inference()},
                      {"inference_count", model.inference_count()},
                      {"execution_count", model.execution_count()},
                      {"inference_stats", RequestsJson(model.inference_stats())},
                      {"batch_stats", std::move(batches)}});
  }
  return {{"model_stats", std::move(models)}};
}

void Answer(const Services& services, const std::string& name, const std::string& version,
            httplib::Response& response) {
  inference::ModelStatisticsResponse statistics;
  const absl::Status status = CollectStatistics(services, name, version, statistics);
  if (!status.ok()) return SendError(response, HttpStatusOf(status), std::string(Message(status)));
  // Names come from files, so bytes that are not UTF-8 must not throw.
  response.set_content(JsonText(StatisticsJson(statistics)), "application/json");
}

}  // namespace

absl::Status CollectStatistics(const Services& services, std::string_view name,
                               std::string_view version,
                               inference::ModelStatisticsResponse& response) {
  if (name.empty()) {
    for (const std::shared_ptr<ServedModel>& model : services.models.All())
      Describe(*model, services.clock, *response.add_model_stats());
    return absl::OkStatus();
  }
  MILLRACE_ASSIGN_OR_RETURN(const auto model, services.models.Find(name, version));
  Describe(*model, services.clock, *response.add_model_stats());
  return absl::OkStatus();
}

void AddStatisticsRoutes(HttpServer& server, const Services& services) {
  server.routes().Get("/v2/models/stats",
                      [&services](const httplib::Request& request, httplib::Response& response) {
                        if (CheckApiKey(request, response, services.keys))
                          Answer(services, "", "", response);
                      });
  server.routes().Get("/v2/models/([^/]+)(/versions/([^/]+))?/stats",
                      [&services](const httplib::Request& request, httplib::Response& response) {
                        if (CheckApiKey(request, response, services.keys))
                          Answer(services, request.matches[1], request.matches[3], response);
                      });
}

}  // namespace millrace::server
