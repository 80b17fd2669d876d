#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "mps_runtime/base/clock.h"
#include "server/metrics/count_shard.h"

namespace millrace::server {

// The time of a step, or of all steps of a request, by what it was spent on.
struct StepTimes {
  Duration permit{};  // waiting for a permit
  Duration input{};   // Prepare
  Duration infer{};   // the forward
  Duration output{};  // Complete

  StepTimes& operator+=(const StepTimes& other);
};

// A number of events and the time that they took together.
struct CountedTime {
  uint64_t count = 0;
  uint64_t ns = 0;
};

// Counts the work of a loaded model in whole numbers: requests that succeeded and those that
// failed, and steps by the size of their batch. Histograms of the metrics have both kinds of
// requests together. Counting takes some nanoseconds and no lock. Thread-safe.
class InferenceCounts {
 public:
  // max_batch: the most requests in one step, which decides about the memory: 384 bytes for each.
  explicit InferenceCounts(size_t max_batch);
  InferenceCounts(const InferenceCounts&) = delete;
  InferenceCounts& operator=(const InferenceCounts&) = delete;

  // Counts a step of so many requests that ran to its end at that time. Larger batches than
  // max_batch count as that.
  void CountStep(size_t requests, const StepTimes& times, TimePoint end);
  // Counts a request that succeeded. queued: the time that it waited before its steps. times: those
  // of all its steps.
  void CountSuccess(Duration took, Duration queued, const StepTimes& times);
  // Counts a request that failed, was refused or was cancelled.
  void CountFailure(Duration took);

  struct Batches {
    size_t requests = 0;  // in each step
    uint64_t steps = 0;
    uint64_t input_ns = 0;
    uint64_t infer_ns = 0;
    uint64_t output_ns = 0;
  };
  struct Totals {
    CountedTime success;
    CountedTime failure;
    // These are sums over the requests that succeeded.
    uint64_t queue_ns = 0;
    uint64_t input_ns = 0;
    uint64_t infer_ns = 0;
    uint64_t output_ns = 0;
    uint64_t steps = 0;
    std::optional<TimePoint> last_step;
    std::vector<Batches> batches = {};  // one for each size that occurred, ascending
  };
  // Returns the sums of all shards. They may lack what is counted meanwhile.
  Totals Collect() const;

 private:
  using Number = std::atomic<uint64_t>;
  static constexpr Duration::rep kNone = std::numeric_limits<Duration::rep>::min();
  struct alignas(kShardAlignment) Requests {
    Number successes{0};
    Number success_ns{0};
    Number failures{0};
    Number failure_ns{0};
    Number queue_ns{0};
    Number input_ns{0};
    Number infer_ns{0};
    Number output_ns{0};
    std::atomic<Duration::rep> last_step{kNone};  // since the clock's epoch
  };
  struct Row {
    Number steps{0};
    Number input_ns{0};
    Number infer_ns{0};
    Number output_ns{0};
  };
  // The rows of some sizes of batches in one shard, alone in their cache lines.
  struct alignas(kShardAlignment) Rows {
    std::array<Row, kShardAlignment / sizeof(Row)> rows;
  };

  Row& RowOf(size_t shard, size_t requests) const;

  const size_t max_batch_;
  const size_t rows_of_a_shard_;
  std::array<Requests, kCountShards> requests_;
  const std::unique_ptr<Rows[]> rows_;
};

}  // namespace millrace::server
