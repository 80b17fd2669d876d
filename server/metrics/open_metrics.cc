#include "server/metrics/open_metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "models/core/lookup.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

constexpr std::string_view kTotal = "_total";

// Returns a number as OpenMetrics wants those that label buckets: never without a point or an
// exponent.
std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "+Inf";
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
    } else {
      if (c == '\\' || c == '"') escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

std::string_view TypeName(MetricType type) {
  static constexpr std::pair<MetricType, std::string_view> kNames[] = {
      {MetricType::Counter, "counter"},
      {MetricType::Gauge, "gauge"},
      {MetricType::Histogram, "histogram"}};
  return ValueOf(kNames, type, std::string_view("unknown"));
}

// Appends "name{labels}"; `bound`: of a bucket, or empty.
void AppendName(std::string& page, std::string_view name, const ClientMetric& metric,
                std::string_view bound) {
  page += name;
  if (metric.label.empty() && bound.empty()) return;
  page += '{';
  const char* separator = "";
  for (const ClientMetric::Label& label : metric.label) {
    page += StrCat(separator, label.name, "=\"", Escaped(label.value), "\"");
    separator = ",";
  }
  if (!bound.empty()) page += StrCat(separator, "le=\"", bound, "\"");
  page += '}';
}

void AppendSample(std::string& page, std::string_view name, const ClientMetric& metric,
                  double value) {
  AppendName(page, name, metric, {});
  page += StrCat(" ", Number(value), "\n");
}

void AppendExemplar(std::string& page, const Exemplar& exemplar) {
  char time[32];
  std::snprintf(time, sizeof(time), "%.3f", exemplar.unix_seconds);
  page += StrCat(" # {trace_id=\"", exemplar.trace_id, "\"} ", Number(exemplar.value), " ", time);
}

void AppendHistogram(std::string& page, const std::string& name, const ClientMetric& metric,
                     const std::vector<std::optional<Exemplar>>& exemplars) {
  const auto& buckets = metric.histogram.bucket;
  for (size_t i = 0; i < buckets.size(); ++i) {
    AppendName(page, name + "_bucket", metric, Number(buckets[i].upper_bound));
    page += StrCat(" ", buckets[i].cumulative_count);
    if (i < exemplars.size() && exemplars[i]) AppendExemplar(page, *exemplars[i]);
    page += '\n';
  }
  AppendName(page, name + "_count", metric, {});
  page += StrCat(" ", metric.histogram.sample_count, "\n");
  AppendSample(page, name + "_sum", metric, metric.histogram.sample_sum);
}

// The weight of a member of Accept, with its type in front; one that cannot be read is 0.
double WeightOf(absl::string_view member) {
  for (const absl::string_view parameter : absl::StrSplit(member, ';')) {
    const absl::string_view text = absl::StripAsciiWhitespace(parameter);
    double weight = 0;
    if (!absl::StartsWithIgnoreCase(text, "q=")) continue;
    return absl::SimpleAtod(text.substr(2), &weight) ? weight : 0;
  }
  return 1;
}

}  // namespace

std::string OpenMetricsText(const std::deque<AnnotatedFamily>& families) {
  std::string page;
  for (const AnnotatedFamily& annotated : families) {
    const prometheus::MetricFamily& family = annotated.family;
    if (family.metric.empty()) continue;
    std::string name = family.name;
    const bool counts = family.type == MetricType::Counter;
    if (counts && name.ends_with(kTotal)) name.resize(name.size() - kTotal.size());
    page += StrCat("# TYPE ", name, " ", TypeName(family.type), "\n");
    page += StrCat("# HELP ", name, " ", Escaped(family.help), "\n");
    for (size_t i = 0; i < family.metric.size(); ++i) {
      const ClientMetric& metric = family.metric[i];
      switch (family.type) {
        case MetricType::Counter:
          AppendSample(page, StrCat(name, kTotal), metric, metric.counter.value);
          break;
        case MetricType::Gauge:
          AppendSample(page, name, metric, metric.gauge.value);
          break;
        case MetricType::Histogram:
          AppendHistogram(page, name, metric,
                          i < annotated.exemplars.size() ? annotated.exemplars[i]
                                                         : std::vector<std::optional<Exemplar>>());
          break;
        default:
          AppendSample(page, name, metric, metric.untyped.value);
      }
    }
  }
  return page + "# EOF\n";
}

bool PrefersOpenMetrics(std::string_view accept) {
  double open_metrics = 0;
  double plain = 0;
  for (const absl::string_view member : absl::StrSplit(View(accept), ',')) {
    const absl::string_view type =
        absl::StripAsciiWhitespace(member.substr(0, std::min(member.find(';'), member.size())));
    double* const weight = absl::EqualsIgnoreCase(type, "application/openmetrics-text")
                               ? &open_metrics
                           : absl::EqualsIgnoreCase(type, "text/plain") ? &plain
                                                                        : nullptr;
    if (weight != nullptr) *weight = std::max(*weight, WeightOf(member));
  }
  return open_metrics > 0 && open_metrics >= plain;
}

}  // namespace millrace::server
