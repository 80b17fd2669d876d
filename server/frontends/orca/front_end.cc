#include "server/frontends/front_end.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mps_runtime/base/cpu_info.h"
#include "mps_runtime/base/memory_info.h"
#include "server/control/server_status.h"
#include "server/frontends/orca/load_reporter.h"
#include "server/metrics/process_stats.h"

namespace millrace::front_ends::orca {
namespace {

// Returns nothing if the load is not to be reported.
std::optional<server::LoadReporter::Options> LoadReportsOf(const ServerConfig& config) {
  using Trailer = server::LoadReporter::Trailer;
  server::LoadReporter::Options options{.target_wait = config.load_target_wait};
  switch (config.load_report) {
    case LoadReports::kOff:
      return std::nullopt;
    case LoadReports::kStream:
      break;
    case LoadReports::kBinary:
      options.trailer = Trailer::kBinary;
      break;
    case LoadReports::kText:
      options.trailer = Trailer::kText;
      break;
  }
  return options;
}

// Returns the load of this moment. Thread-safe.
server::LoadSample SampleLoad(const server::ServerStatus& status, const server::Metrics& metrics) {
  static const double cores = runtime::AvailableCores();
  static const auto memory = static_cast<double>(runtime::AvailableMemory());
  const server::ServerStatus::Load load = status.CurrentLoad();
  const server::Metrics::Ended ended = metrics.CountEnded();
  return {.time = Clock::Real().Now(),
          .cpu_seconds = server::CpuSeconds(),
          .cores = cores,
          .memory_bytes = server::ResidentBytes(),
          .memory_limit = memory,
          .permits = load.permits,
          .permits_in_use = load.permits_in_use,
          .requests = ended.all,
          .failures = ended.failed,
          .queue_depth = static_cast<double>(load.queue_depth),
          .queue_oldest_seconds = load.queue_oldest_seconds,
          .expected_wait_seconds = load.expected_wait_seconds};
}

class ReporterPart final : public server::GrpcPart {
 public:
  ReporterPart(const server::LoadReporter::Options& options, const server::FrontEndParts& parts)
      : reporter_(
            options,
            [&status = parts.control->status, &metrics = parts.metrics] {
              return SampleLoad(status, metrics);
            },
            parts.repository.on_too_many) {}

  std::vector<server::RpcService*> services() override { return {&reporter_.service()}; }
  const server::CommonTrailer* trailer() const override { return reporter_.trailer(); }
  void EndStreams() override { reporter_.service().EndStreams(); }

 private:
  server::LoadReporter reporter_;
};

std::unique_ptr<server::GrpcPart> MakeGrpc(const server::FrontEndParts& parts) {
  const auto options = LoadReportsOf(parts.config);
  return options ? std::make_unique<ReporterPart>(*options, parts) : nullptr;
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {.name = "orca", .make_grpc = &MakeGrpc};

}  // namespace millrace::front_ends::orca
