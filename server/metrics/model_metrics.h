#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "mps_runtime/base/clock.h"
#include "server/metrics/method.h"
#include "server/metrics/metric_writer.h"
#include "server/metrics/sharded_counter.h"
#include "server/metrics/sharded_histogram.h"

namespace millrace::server {

inline double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// The reason why a request was refused, as the label `reason`.
enum class Refusal : uint8_t {
  kQueueFull,  // as many wait for the model as may
  kTooMany,    // as many are in the server as may
  kDraining,   // the server stops
  kDeadline,   // it, or others, would be late, because there is other work
  kNeverFits,  // it takes longer than it has, even alone
  kKeyLimit,   // a limit of its API key
  kLoading,    // its model is not in memory in time
};
inline constexpr size_t kRefusals = 7;
std::string_view ToString(Refusal refusal);

inline constexpr size_t kStatusCodes = 17;  // the codes of gRPC, 0..16
// Returns true if an alert uses the rate of this code, which needs the value 0 before the first
// such end.
bool IsWatched(absl::StatusCode code);

// Returns true if a request ends with this code because the server refused it, had no time for it,
// or failed.
bool IsServersFault(absl::StatusCode code);

// The counters and histograms of one model, looked up once so that a request pays for the increment
// alone. Collect says what they are to those who read them. Thread-safe.
class ModelMetrics {
  ShardedCounters counters_;
  const std::string name_;

 public:
  // name: of the model; "" for requests that reached none. longest_request: histograms of times
  // extend to it.
  ModelMetrics(std::string name, Duration longest_request);
  ModelMetrics(const ModelMetrics&) = delete;
  ModelMetrics& operator=(const ModelMetrics&) = delete;

  ShardedHistogram queue_seconds;
  ShardedHistogram compute_seconds;
  ShardedHistogram permit_wait_seconds;
  ShardedHistogram first_audio_seconds;
  ShardedHistogram batch_size;
  ShardedCounter& helped_seconds = counters_.Add();
  ShardedCounter& audio_seconds = counters_.Add();
  ShardedCounter& characters = counters_.Add();
  ShardedCounter& source_tokens = counters_.Add();
  ShardedCounter& target_tokens = counters_.Add();
  std::array<ShardedCounter*, kRefusals> refused;
  std::array<std::optional<ShardedHistogram>, kMethods> request_seconds;  // all have a value
  std::array<std::array<ShardedCounter*, kStatusCodes>, kMethods> requests;

  // Declares that the model has this task, whose metrics are then shown at 0 too.
  void AddTask(models::Task task);
  void Collect(MetricWriter& writer) const;

  // Counts the end of a call: its status code, and its time from the first byte to the last.
  void CountRequest(Method method, absl::StatusCode code, Duration took);
  // Keeps a sampled request of that time as an example of its bucket.
  void SetExemplar(Method method, Duration took, std::string_view trace_id) {
    request_seconds[static_cast<size_t>(method)]->SetExemplar(Seconds(took), trace_id);
  }
  // Counts the tokens that a translation read and wrote.
  void CountTokens(int64_t source, int64_t target) {
    source_tokens.Increment(static_cast<double>(source));
    target_tokens.Increment(static_cast<double>(target));
  }
  void CountRefusal(Refusal refusal) { refused[static_cast<size_t>(refusal)]->Increment(); }

 private:
  std::atomic<unsigned> tasks_{0};  // a bit for each
};

}  // namespace millrace::server
