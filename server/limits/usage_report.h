#pragma once

#include <cstddef>
#include <vector>

#include "server/limits/key_account.h"
#include "server/metrics/metrics.h"

namespace millrace::server {

// The most keys with a label of their own.
inline constexpr size_t kMostKeyLabels = 100;

// Returns what keys have used as metrics tell it, so that the number of series is bounded: the
// first kMostKeyLabels keys by name, the others together as "(other)", and callers without a key as
// "(none)". Names of keys have no parentheses. usage: in the order of KeyLimits::Usage, so that a
// key keeps its label. worker_seconds: by number of the key, as Scheduler::key_seconds returns it.
std::vector<Snapshot::Key> KeyMetrics(const std::vector<KeyUsage>& usage,
                                      const std::vector<double>& worker_seconds);

// Returns the seconds of workers that a key has had.
double WorkerSeconds(const KeyUsage& usage, const std::vector<double>& worker_seconds);

}  // namespace millrace::server
