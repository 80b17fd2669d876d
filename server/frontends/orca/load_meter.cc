#include "server/frontends/orca/load_meter.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "models/core/strings.h"
#include "server/metrics/model_metrics.h"

namespace millrace::server {

xds::data::orca::v3::OrcaLoadReport LoadMeter::Update(const LoadSample& sample) {
  const double permits_used =
      static_cast<double>(sample.permits_in_use) / std::max(sample.permits, 1);
  if (!last_) {
    permits_used_ = permits_used;
  } else if (const double passed = Seconds(sample.time - last_->time); passed > 0) {
    const double weight = 1 - std::exp(-passed / Seconds(kMemory));
    const auto add = [weight](double& average, double now) { average += weight * (now - average); };
    add(permits_used_, permits_used);
    add(cpu_, (sample.cpu_seconds - last_->cpu_seconds) / passed / std::max(sample.cores, 1.0));
    add(requests_a_second_, (sample.requests - last_->requests) / passed);
    add(failures_a_second_, (sample.failures - last_->failures) / passed);
  }
  last_ = sample;

  xds::data::orca::v3::OrcaLoadReport report;
  report.set_cpu_utilization(std::max(cpu_, 0.0));
  if (sample.memory_limit > 0)
    report.set_mem_utilization(std::clamp(sample.memory_bytes / sample.memory_limit, 0.0, 1.0));
  report.set_application_utilization(
      std::max(permits_used_, sample.expected_wait_seconds / Seconds(target_wait_)));
  report.set_rps_fractional(std::max(requests_a_second_, 0.0));
  report.set_eps(std::max(failures_a_second_, 0.0));
  auto& named = *report.mutable_named_metrics();
  for (const auto& [name, value] :
       {std::pair("queue_depth", sample.queue_depth),
        std::pair("queue_oldest_seconds", sample.queue_oldest_seconds),
        std::pair("expected_wait_seconds", sample.expected_wait_seconds)}) {
    const std::string key = name;
    named[key] = value;
  }
  return report;
}

std::string ToText(const xds::data::orca::v3::OrcaLoadReport& report) {
  std::string text = StrCat("application_utilization:", report.application_utilization());
  const auto append = [&text](std::string_view name, double value) {
    if (value != 0) text += StrCat(",", name, ":", value);
  };
  append("cpu_utilization", report.cpu_utilization());
  append("mem_utilization", report.mem_utilization());
  append("rps_fractional", report.rps_fractional());
  append("eps", report.eps());
  // A map of Protobuf has no order, and a text that is the same compresses better.
  const std::map<std::string, double> named(report.named_metrics().begin(),
                                            report.named_metrics().end());
  for (const auto& [name, value] : named) append(StrCat("named_metrics.", name), value);
  return text;
}

}  // namespace millrace::server
