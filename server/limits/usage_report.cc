#include "server/limits/usage_report.h"

#include <algorithm>

namespace millrace::server {
namespace {

constexpr char kNoKey[] = "(none)";
constexpr char kOthers[] = "(other)";

}  // namespace

double WorkerSeconds(const KeyUsage& usage, const std::vector<double>& worker_seconds) {
  return usage.number < worker_seconds.size() ? worker_seconds[usage.number] : 0;
}

std::vector<Snapshot::Key> KeyMetrics(const std::vector<KeyUsage>& usage,
                                      const std::vector<double>& worker_seconds) {
  std::vector<Snapshot::Key> keys;
  for (const KeyUsage& used : usage) {
    if (keys.size() <= kMostKeyLabels) {
      Snapshot::Key& added = keys.emplace_back();
      added.name = keys.size() > kMostKeyLabels ? kOthers : used.key.empty() ? kNoKey : used.key;
      for (size_t i = 0; i < kKeyLimits; ++i)
        added.refused_total.emplace_back(ToString(static_cast<KeyLimit>(i)), 0);
    }
    Snapshot::Key& key = keys.back();
    key.requests_total += used.requests;
    for (size_t i = 0; i < kKeyLimits; ++i) key.refused_total[i].second += used.refused[i];
    key.characters_total += used.characters;
    key.audio_seconds_total += used.audio_seconds;
    key.worker_seconds_total += WorkerSeconds(used, worker_seconds);
    key.requests_in_flight += used.in_flight;
  }
  return keys;
}

}  // namespace millrace::server
