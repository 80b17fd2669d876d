#include "server/frontends/front_end.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/cpu_info.h"
#include "mps_runtime/base/memory_info.h"
#include "server/control/periodic.h"
#include "server/control/server_status.h"
#include "server/frontends/orca/load_meter.h"
#include "server/frontends/orca/orca_service.h"
#include "server/metrics/process_stats.h"
#include "server/rpc/common_trailer.h"

namespace millrace::front_ends::orca {
namespace {

constexpr Duration kInterval = std::chrono::milliseconds(100);

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

// Measures the load several times a second on a thread of its own, and publishes it: as a trailer
// of the next call of each connection, and to the streams of OrcaService.
class LoadReporter final : public server::OrcaService {
 public:
  explicit LoadReporter(const server::FrontEndParts& parts)
      : OrcaService({.on_too_many = parts.repository.on_too_many}),
        form_(parts.config.load_report),
        status_(parts.control->status),
        metrics_(parts.metrics),
        meter_(parts.config.load_target_wait),
        trailer_(form_ == LoadReports::kText ? "endpoint-load-metrics"
                                             : "endpoint-load-metrics-bin") {
    Update();
    updates_.emplace(kInterval, [this] { Update(); });
  }

  const server::CommonTrailer* trailer() const {
    return form_ == LoadReports::kStream ? nullptr : &trailer_;
  }

 private:
  void Update() {
    const auto report = meter_.Update(SampleLoad(status_, metrics_));
    Publish(report);
    // Envoy takes a reply with more than one form for an error.
    if (form_ == LoadReports::kText) trailer_.Publish(server::ToText(report));
    if (form_ == LoadReports::kBinary) trailer_.Publish(report.SerializeAsString());
  }

  const LoadReports form_;
  const server::ServerStatus& status_;
  const server::Metrics& metrics_;
  server::LoadMeter meter_;  // used in the constructor, then on the thread
  server::CommonTrailer trailer_;
  std::optional<server::Periodic> updates_;  // declared last: its thread uses everything above
};

void AddServices(const server::FrontEndParts& parts, server::GrpcParts& grpc) {
  if (parts.config.load_report == LoadReports::kOff) return;
  auto reporter = std::make_unique<LoadReporter>(parts);
  grpc.trailer = reporter->trailer();
  grpc.end_streams = [&service = *reporter] { service.EndStreams(); };
  grpc.services.push_back(std::move(reporter));
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {.name = "orca", .add_services = &AddServices};

}  // namespace millrace::front_ends::orca
