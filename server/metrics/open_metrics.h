#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prometheus/metric_family.h"
#include "server/metrics/exemplar.h"

namespace millrace::server {

// The type of the page that OpenMetricsText makes.
inline constexpr char kOpenMetricsType[] =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

// A family of metrics, and for each of its histograms an example of each bucket, if there is one.
struct AnnotatedFamily {
  prometheus::MetricFamily family;
  std::vector<std::vector<std::optional<Exemplar>>> exemplars;  // by metric, then by bucket
};

// Returns a page in the text format of OpenMetrics 1.0, which unlike Prometheus' own has exemplars.
std::string OpenMetricsText(const std::deque<AnnotatedFamily>& families);

// Returns true if a client that sends this header would rather have OpenMetrics than Prometheus'
// text format. `accept` is empty if there is none.
bool PrefersOpenMetrics(std::string_view accept);

}  // namespace millrace::server
