#pragma once

#include <vector>

#include "models/core/lru_cache.h"
#include "mps_runtime/runtime.h"
#include "server/metrics/metric_writer.h"

namespace millrace::server {

// Collect the metrics of the libraries below the server, which know none.
void Collect(runtime::Runtime& runtime, MetricWriter& writer);
void CollectTranslationCache(const models::LruStats& stats, MetricWriter& writer);
void CollectSpeechCache(const models::LruStats& stats, MetricWriter& writer);
// Part of a runtime's: the graph caches of workers that compile on their own, if there are any.
void Collect(const std::vector<runtime::ThreadGraphCache>& caches, MetricWriter& writer);

}  // namespace millrace::server
