#include "server/frontends/orca/report_text.h"

#include <map>

#include "models/core/strings.h"

namespace millrace::server {

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
