#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "prometheus/client_metric.h"
#include "prometheus/metric_type.h"
#include "server/metrics/open_metrics.h"

namespace millrace::server {

class ShardedHistogram;

// Collects the page of one scrape. Whoever owns numbers declares their metrics in a function of
// its own, `void Collect(MetricWriter& writer) const`: the name, the help text, the labels and
// where the value comes from. Not thread-safe.
class MetricWriter {
 public:
  using Labels = std::vector<prometheus::ClientMetric::Label>;

  // The metrics of one name. Valid as long as the writer.
  class Family {
   public:
    template <typename Number>
    requires std::is_arithmetic_v<Number>
    void Add(Number value, Labels labels = {}) {
      AddValue(static_cast<double>(value), std::move(labels));
    }
    void Add(const ShardedHistogram& histogram, Labels labels);

   private:
    friend class MetricWriter;
    explicit Family(AnnotatedFamily& family) : family_(&family) {}
    void AddValue(double value, Labels labels);

    AnnotatedFamily* family_;
  };

  // Return the family of this name. It is on the page from the first call on, even if it stays
  // without a metric. name, help: must be literals.
  Family Gauges(const char* name, const char* help);
  Family Counters(const char* name, const char* help);
  Family Histograms(const char* name, const char* help);
  // Add a family of a single metric without labels.
  template <typename Number>
  void Gauge(const char* name, const char* help, Number value) {
    Gauges(name, help).Add(value);
  }
  template <typename Number>
  void Counter(const char* name, const char* help, Number value) {
    Counters(name, help).Add(value);
  }

  // Return the page in Prometheus' text format, and in OpenMetrics', which has the exemplars.
  std::string PrometheusText() &&;
  std::string OpenMetrics() const { return OpenMetricsText(families_); }

 private:
  Family FamilyOf(const char* name, const char* help, prometheus::MetricType type);

  std::deque<AnnotatedFamily> families_;  // a deque, because its elements must not move
  std::map<std::string_view, AnnotatedFamily*> by_name_;
};

}  // namespace millrace::server
