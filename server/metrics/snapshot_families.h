#pragma once

#include <vector>

#include "prometheus/metric_family.h"
#include "server/metrics/metrics.h"

namespace millrace::server {

// Appends the families of a scrape that show this snapshot, in the order of the page.
void AppendSnapshot(const Snapshot& snapshot, std::vector<prometheus::MetricFamily>& families);

}  // namespace millrace::server
