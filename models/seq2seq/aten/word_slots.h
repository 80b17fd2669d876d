#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mps_runtime/base/mutex.h"

namespace millrace::seq2seq {

// Which places of a cache of keys and values are free. A sentence takes at once as many as it can
// come to need, so that it never waits for one in the middle, and gives them back when it ends. Two
// are never given out.
//
// Whoever finds too few free is waited for: until it has come back and got them, others only take
// what leaves room for it, or those who need much would never have their turn. It is forgotten when
// others were refused kPatience times meanwhile, for it may have given up. Thread-safe.
class WordSlots {
 public:
  // Reads as zeros: what padding attends to.
  static constexpr int32_t kZeros = 0;
  // What padding writes to; never read.
  static constexpr int32_t kWaste = 1;

  static constexpr size_t kPatience = 1 << 14;

  // slots: of the cache, more than those two.
  explicit WordSlots(size_t slots);

  // That many of them, or none when fewer are free. who: names a sentence.
  std::vector<int32_t> Take(size_t tokens, const void* who) MILLRACE_EXCLUDES(mu_);
  void Give(std::span<const int32_t> slots) MILLRACE_EXCLUDES(mu_);

  size_t capacity() const { return capacity_; }
  size_t used() const MILLRACE_EXCLUDES(mu_);

 private:
  const size_t capacity_;
  mutable Mutex mu_;
  std::vector<int32_t> free_ MILLRACE_GUARDED_BY(mu_);
  // Of the one that is waited for; tokens is 0 when there is none.
  const void* waiting_ MILLRACE_GUARDED_BY(mu_) = nullptr;
  size_t waiting_tokens_ MILLRACE_GUARDED_BY(mu_) = 0;
  size_t refused_ MILLRACE_GUARDED_BY(mu_) = 0;
};

}  // namespace millrace::seq2seq
