#pragma once

#include <string>

#include "xds/data/orca/v3/orca_load_report.pb.h"

namespace millrace::server {

// Returns the report as Envoy reads it in the trailer `endpoint-load-metrics`: pairs such as
// "application_utilization:0.7,named_metrics.queue_depth:3". Metrics that are 0 are left out, but
// for the utilization of the application, so that the text is never empty.
std::string ToText(const xds::data::orca::v3::OrcaLoadReport& report);

}  // namespace millrace::server
