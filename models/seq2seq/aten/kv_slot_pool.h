#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mps_runtime/base/mutex.h"

namespace millrace::seq2seq {

// The free slots of a KV cache on a device. A sentence takes all slots that it can need at once, so
// that it never waits in the middle, and returns them when it ends. Slots kZeros and kWaste are
// reserved.
//
// Starvation guard: after a failed Take, other sentences may only take slots that the waiting
// sentence does not need. It is forgotten once others were refused kPatience times, because it may
// have given up. Thread-safe.
class KvSlotPool {
 public:
  // Padding attends to this slot, which holds zeros.
  static constexpr int32_t kZeros = 0;
  // Padding writes to this slot, which is never read.
  static constexpr int32_t kWaste = 1;

  static constexpr size_t kPatience = 1 << 14;

  // slots: the number of slots of the cache, more than the two that are reserved.
  explicit KvSlotPool(size_t slots);

  // Returns `count` slots, or none when fewer are free. owner: identifies the sentence.
  std::vector<int32_t> Take(size_t count, const void* owner) MILLRACE_EXCLUDES(mu_);
  void Give(std::span<const int32_t> slots) MILLRACE_EXCLUDES(mu_);

  size_t capacity() const { return capacity_; }
  size_t used() const MILLRACE_EXCLUDES(mu_);

 private:
  const size_t capacity_;
  mutable Mutex mu_;
  std::vector<int32_t> free_ MILLRACE_GUARDED_BY(mu_);
  // The sentence that waits, and how many slots it needs: 0 when none waits.
  const void* waiting_ MILLRACE_GUARDED_BY(mu_) = nullptr;
  size_t needed_ MILLRACE_GUARDED_BY(mu_) = 0;
  size_t refused_ MILLRACE_GUARDED_BY(mu_) = 0;
};

}  // namespace millrace::seq2seq
