#include "server/metrics/metric_writer.h"

#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"
#include "server/metrics/sharded_histogram.h"

namespace millrace::server {

using prometheus::MetricType;

void MetricWriter::Family::AddValue(double value, Labels labels) {
  prometheus::ClientMetric& metric = family_->family.metric.emplace_back();
  metric.label = std::move(labels);
  (family_->family.type == MetricType::Gauge ? metric.gauge.value : metric.counter.value) = value;
}

void MetricWriter::Family::Add(const ShardedHistogram& histogram, Labels labels) {
  prometheus::ClientMetric& metric = family_->family.metric.emplace_back(histogram.Collect());
  metric.label = std::move(labels);
  family_->exemplars.push_back(histogram.Exemplars());
}

MetricWriter::Family MetricWriter::Gauges(const char* name, const char* help) {
  return FamilyOf(name, help, MetricType::Gauge);
}

MetricWriter::Family MetricWriter::Counters(const char* name, const char* help) {
  return FamilyOf(name, help, MetricType::Counter);
}

MetricWriter::Family MetricWriter::Histograms(const char* name, const char* help) {
  return FamilyOf(name, help, MetricType::Histogram);
}

MetricWriter::Family MetricWriter::FamilyOf(const char* name, const char* help, MetricType type) {
  AnnotatedFamily*& family = by_name_[name];
  if (family == nullptr)
    family = &families_.emplace_back(AnnotatedFamily{{name, help, type, {}}, {}});
  return Family(*family);
}

std::string MetricWriter::PrometheusText() && {
  std::vector<prometheus::MetricFamily> families;
  families.reserve(families_.size());
  for (AnnotatedFamily& annotated : families_) families.push_back(std::move(annotated.family));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace millrace::server
