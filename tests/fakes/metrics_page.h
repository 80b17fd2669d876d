#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "server/metrics/metric_writer.h"

namespace millrace::testing {

// Returns the page of what one owner of metrics collects, without its comments: "name{labels}
// value" in each line.
template <typename Owner>
std::string MetricsPageOf(const Owner& owner) {
  server::MetricWriter writer;
  owner.Collect(writer);
  const std::string page = std::move(writer).PrometheusText();
  std::string samples;
  for (size_t begin = 0; begin < page.size();) {
    const size_t end = page.find('\n', begin) + 1;
    if (page[begin] != '#') samples += page.substr(begin, end - begin);
    begin = end;
  }
  return samples;
}

// Returns the value of one of its metrics, which is named as on the page; fails without it.
template <typename Owner>
double MetricOf(const Owner& owner, std::string_view name) {
  const std::string page = "\n" + MetricsPageOf(owner);
  const std::string line = "\n" + std::string(name) + " ";
  return std::stod(page.substr(page.find(line) + line.size()));
}

}  // namespace millrace::testing
