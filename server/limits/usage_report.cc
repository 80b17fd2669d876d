#include "server/limits/usage_report.h"

#include <string>

namespace millrace::server {
namespace {

constexpr char kNoKey[] = "(none)";
constexpr char kOthers[] = "(other)";

void Add(const KeyUsage& used, KeyUsage& sum) {
  sum.requests += used.requests;
  for (size_t i = 0; i < kKeyLimits; ++i) sum.refused[i] += used.refused[i];
  sum.characters += used.characters;
  sum.audio_seconds += used.audio_seconds;
  sum.in_flight += used.in_flight;
}

}  // namespace

double WorkerSeconds(const KeyUsage& usage, const std::vector<double>& worker_seconds) {
  return usage.number < worker_seconds.size() ? worker_seconds[usage.number] : 0;
}

void CollectKeys(const std::vector<KeyUsage>& usage, const std::vector<double>& worker_seconds,
                 MetricWriter& writer) {
  struct Row {
    KeyUsage sum;
    double worker_seconds = 0;
  };
  std::vector<Row> rows;
  for (const KeyUsage& used : usage) {
    if (rows.size() <= kMostKeyLabels) {
      KeyUsage& sum = rows.emplace_back().sum;
      sum.key = rows.size() > kMostKeyLabels ? kOthers : used.key.empty() ? kNoKey : used.key;
    }
    Add(used, rows.back().sum);
    rows.back().worker_seconds += WorkerSeconds(used, worker_seconds);
  }
  for (const auto& [sum, seconds] : rows) {
    const MetricWriter::Labels key = {{"key", sum.key}};
    writer.Counters("millrace_key_requests_total", "Requests that were begun for each API key.")
        .Add(sum.requests, key);
    writer
        .Counters("millrace_key_characters_total", "Characters that requests of each API key had.")
        .Add(sum.characters, key);
    writer.Counters("millrace_key_audio_seconds_total", "Seconds of speech made for each API key.")
        .Add(sum.audio_seconds, key);
    writer
        .Counters("millrace_key_worker_seconds_total",
                  "Time of the workers that each API key has had.")
        .Add(seconds, key);
    writer
        .Gauges("millrace_key_requests_in_flight",
                "Requests of each API key that are not yet answered.")
        .Add(sum.in_flight, key);
    for (size_t i = 0; i < kKeyLimits; ++i) {
      writer
          .Counters("millrace_key_refused_total",
                    "Requests that were refused because of a limit of their API key.")
          .Add(sum.refused[i],
               {{"key", sum.key}, {"limit", std::string(ToString(static_cast<KeyLimit>(i)))}});
    }
  }
}

}  // namespace millrace::server
