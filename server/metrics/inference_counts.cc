#include "server/metrics/inference_counts.h"

#include <algorithm>
#include <chrono>

namespace millrace::server {
namespace {

constexpr size_t kRowsAtOnce = kShardAlignment / (4 * sizeof(uint64_t));

// A clock that is not steady must not turn a sum into a huge number.
uint64_t Nanoseconds(Duration duration) {
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  return ns > 0 ? static_cast<uint64_t>(ns) : 0;
}

}  // namespace

StepTimes& StepTimes::operator+=(const StepTimes& other) {
  permit += other.permit;
  input += other.input;
  infer += other.infer;
  output += other.output;
  return *this;
}

InferenceCounts::InferenceCounts(size_t max_batch)
    : max_batch_(std::max<size_t>(max_batch, 1)),
      rows_of_a_shard_((max_batch_ + kRowsAtOnce - 1) / kRowsAtOnce),
      rows_(std::make_unique<Rows[]>(kCountShards * rows_of_a_shard_)) {}

InferenceCounts::Row& InferenceCounts::RowOf(size_t shard, size_t requests) const {
  const size_t index = std::clamp<size_t>(requests, 1, max_batch_) - 1;
  return rows_[shard * rows_of_a_shard_ + index / kRowsAtOnce].rows[index % kRowsAtOnce];
}

void InferenceCounts::CountStep(size_t requests, const StepTimes& times, TimePoint end) {
  const size_t shard = CountShard();
  Row& row = RowOf(shard, requests);
  AddInShard(shard, row.steps, uint64_t{1});
  AddInShard(shard, row.input_ns, Nanoseconds(times.input));
  AddInShard(shard, row.infer_ns, Nanoseconds(times.infer));
  AddInShard(shard, row.output_ns, Nanoseconds(times.output));
  // Threads that share the shard end their steps at the same time, give or take a step.
  requests_[shard].last_step.store(end.time_since_epoch().count(), std::memory_order_relaxed);
}

void InferenceCounts::CountSuccess(Duration took, Duration queued, const StepTimes& times) {
  const size_t shard = CountShard();
  Requests& counts = requests_[shard];
  AddInShard(shard, counts.successes, uint64_t{1});
  AddInShard(shard, counts.success_ns, Nanoseconds(took));
  AddInShard(shard, counts.queue_ns, Nanoseconds(queued + times.permit));
  AddInShard(shard, counts.input_ns, Nanoseconds(times.input));
  AddInShard(shard, counts.infer_ns, Nanoseconds(times.infer));
  AddInShard(shard, counts.output_ns, Nanoseconds(times.output));
}

void InferenceCounts::CountFailure(Duration took) {
  const size_t shard = CountShard();
  AddInShard(shard, requests_[shard].failures, uint64_t{1});
  AddInShard(shard, requests_[shard].failure_ns, Nanoseconds(took));
}

InferenceCounts::Totals InferenceCounts::Collect() const {
  const auto read = [](const Number& number) { return number.load(std::memory_order_relaxed); };
  Totals totals;
  Duration::rep last_step = kNone;
  for (const Requests& counts : requests_) {
    totals.success.count += read(counts.successes);
    totals.success.ns += read(counts.success_ns);
    totals.failure.count += read(counts.failures);
    totals.failure.ns += read(counts.failure_ns);
    totals.queue_ns += read(counts.queue_ns);
    totals.input_ns += read(counts.input_ns);
    totals.infer_ns += read(counts.infer_ns);
    totals.output_ns += read(counts.output_ns);
    last_step = std::max(last_step, counts.last_step.load(std::memory_order_relaxed));
  }
  if (last_step != kNone) totals.last_step = TimePoint(Duration(last_step));
  for (size_t requests = 1; requests <= max_batch_; ++requests) {
    Batches batches{.requests = requests};
    for (size_t shard = 0; shard < kCountShards; ++shard) {
      const Row& row = RowOf(shard, requests);
      batches.steps += read(row.steps);
      batches.input_ns += read(row.input_ns);
      batches.infer_ns += read(row.infer_ns);
      batches.output_ns += read(row.output_ns);
    }
    if (batches.steps == 0) continue;
    totals.steps += batches.steps;
    totals.batches.push_back(batches);
  }
  return totals;
}

}  // namespace millrace::server
