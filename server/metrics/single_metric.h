#pragma once

#include <string>
#include <utility>
#include <vector>

#include "prometheus/client_metric.h"
#include "prometheus/metric_family.h"
#include "prometheus/metric_type.h"

namespace millrace::server {

// Returns a gauge or a counter of this value.
inline prometheus::ClientMetric Value(double value, prometheus::MetricType type,
                                      std::vector<prometheus::ClientMetric::Label> labels = {}) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  (type == prometheus::MetricType::Gauge ? metric.gauge.value : metric.counter.value) = value;
  return metric;
}

// Returns a family of one such metric without labels.
inline prometheus::MetricFamily Single(std::string name, std::string help,
                                       prometheus::MetricType type, double value) {
  return {std::move(name), std::move(help), type, {Value(value, type)}};
}

}  // namespace millrace::server
