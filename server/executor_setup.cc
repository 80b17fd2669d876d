#include "server/executor_setup.h"

#include "models/core/strings.h"
#include "models/repository/package_size.h"
#include "mps_runtime/base/memory_info.h"
#include "server/control/version.h"
#include "server/executors/executor_platform.h"
#include "server/logging/logging.h"
#include "server/metrics/model_metrics.h"
#include "server/server_setup.h"

namespace millrace::server {

Compute RemoteCompute() { return {.platform = ExecutorPlatform(), .operators = {}}; }

runtime::RuntimeOptions MakeFrontOptions(const ServerConfig& config, ModelSafety& safety) {
  runtime::RuntimeOptions options = MakeRuntimeOptions(config, safety);
  if (config.device.value_or(runtime::DeviceType::kCpu) == runtime::DeviceType::kCpu)
    return options;
  // These limit what is on the device at once in one process: each executor has its own.
  options.mode.reset();
  options.max_in_flight.reset();
  options.measured_concurrency = nullptr;
  // As many as suit each card.
  if (options.workers == 0 && config.device_numbers.size() > 1)
    options.workers = static_cast<int>(kWorkersOfACard * config.device_numbers.size());
  return options;
}

ExecutorPool::Options MakeExecutorOptions(const ServerConfig& config, int workers,
                                          CrashFolder* crashes) {
  ExecutorPool::Options options;
  options.config = config;
  options.config.workers = workers;
  options.config.device = config.device.value_or(runtime::DeviceType::kCpu);
  options.lanes = static_cast<size_t>(workers);
  options.version = kVersion;
  options.crashes = crashes;
  return options;
}

void WarnOfMemory(const ServerConfig& config, const models::ModelRepository& repository) {
  const auto entries = repository.List();
  if (!entries.ok()) return;
  uint64_t bytes = 0;
  for (const models::ModelRepository::Entry& entry : *entries) {
    if (const auto package = repository.Find(entry); package.ok())
      bytes += models::SizeOf(*package);
  }
  const auto processes =
      static_cast<uint64_t>(config.executors) + static_cast<uint64_t>(config.spare_executors);
  const auto memory = static_cast<uint64_t>(runtime::AvailableMemory());
  if (bytes <= memory / processes) return;
  logging::Warning(
      "--executors, --spare-executors: the models of so many processes may need more memory than "
      "there is",
      {{"processes", processes}, {"bytes_of_each", bytes}, {"memory_bytes", memory}});
}

void CollectExecutors(const ExecutorPool* executors, MetricWriter& writer) {
  ExecutorPool::Stats stats;
  if (executors != nullptr) stats = executors->stats();
  MetricWriter::Family states =
      writer.Gauges("millrace_executors", "Processes that hold the models, by whether they serve.");
  states.Add(stats.serving, {{"state", "serving"}});
  states.Add(stats.spares_ready, {{"state", "spare"}});
  states.Add(stats.executors + stats.spares - stats.serving - stats.spares_ready,
             {{"state", "down"}});
  MetricWriter::Family deaths =
      writer.Counters("millrace_executor_deaths_total", "Executors that have died.");
  for (int i = 0; i < kDeathCauses; ++i) {
    deaths.Add(stats.deaths[static_cast<size_t>(i)],
               {{"cause", std::string(ToString(static_cast<DeathCause>(i)))}});
  }
  writer.Counter("millrace_executor_starts_failed_total", "Executors that could not be started.",
                 stats.starts_failed);
  writer.Counter("millrace_executor_restarts_total",
                 "Attempts to start the successor of an executor.", stats.restarts);
  writer.Counter("millrace_executors_recycled_total",
                 "Executors that a spare one has replaced because of their age.", stats.recycled);
  writer.Counter("millrace_requests_replayed_total",
                 "Requests that were run again because their executor had died.", stats.replays);
  writer.Counter("millrace_requests_convicted_total",
                 "Requests that ended two executors and were refused from then on.",
                 stats.convicted);
  writer.Gauge("millrace_without_executor_seconds",
               "For how long no executor has served; 0 if one does.", Seconds(stats.without));
  for (const auto& [name, time] : stats.served_for) {
    writer
        .Gauges("millrace_executor_serving_seconds",
                "For how long each executor has served, by the name that the log has for it.")
        .Add(Seconds(time), {{"executor", name}});
  }
}

std::string DescribeDegraded(const ExecutorPool::Stats& stats) {
  if (stats.serving == 0) return "no executor serves";
  if (stats.serving < stats.executors)
    return StrCat(stats.serving, " of ", stats.executors, " executors serve");
  if (stats.spares_ready < stats.spares)
    return StrCat(stats.spares_ready, " of ", stats.spares, " spare executors are ready");
  return {};
}

models::ModelFactory MakeRemoteFactory(ExecutorPool& executors) {
  return [&executors](const models::ModelConfig& /*config*/,
                      const std::filesystem::path& /*folder*/, const models::ModelInfo& info) {
    return executors.Load(info.name, info.version);
  };
}

}  // namespace millrace::server
