#include "server/frontends/orca/load_reporter.h"

#include <utility>

#include "server/frontends/orca/report_text.h"

namespace millrace::server {

LoadReporter::LoadReporter(const Options& options, std::function<LoadSample()> sample,
                           std::function<void()> on_too_many, Clock& clock)
    : options_(options),
      sample_(std::move(sample)),
      meter_(options.target_wait),
      trailer_(options.trailer == Trailer::kText ? "endpoint-load-metrics"
                                                 : "endpoint-load-metrics-bin"),
      service_({.on_too_many = std::move(on_too_many)}, clock) {
  Update();
  updates_.emplace(
      options.interval, [this] { Update(); }, clock);
}

void LoadReporter::Update() {
  const xds::data::orca::v3::OrcaLoadReport report = meter_.Update(sample_());
  service_.Publish(report);
  if (options_.trailer == Trailer::kText) trailer_.Publish(ToText(report));
  if (options_.trailer == Trailer::kBinary) trailer_.Publish(report.SerializeAsString());
}

}  // namespace millrace::server
