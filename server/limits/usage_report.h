#pragma once

#include <cstddef>
#include <vector>

#include "server/limits/key_account.h"
#include "server/metrics/metric_writer.h"

namespace millrace::server {

// The most keys with a label of their own.
inline constexpr size_t kMostKeyLabels = 100;

// Collects what keys have used. The number of series is bounded: the first kMostKeyLabels keys have
// labels of their own by name, the others together are "(other)", and callers without a key are
// "(none)". Names of keys have no parentheses. usage: in the order of KeyLimits::Usage, so that a
// key keeps its label. worker_seconds: by number of the key, as Scheduler::key_seconds returns it.
void CollectKeys(const std::vector<KeyUsage>& usage, const std::vector<double>& worker_seconds,
                 MetricWriter& writer);

// Returns the seconds of workers that a key has had.
double WorkerSeconds(const KeyUsage& usage, const std::vector<double>& worker_seconds);

}  // namespace millrace::server
