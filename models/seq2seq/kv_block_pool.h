#pragma once

#include <cstddef>
#include <vector>

#include "models/kernels/aligned_buffer.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::seq2seq {

// The blocks of floats, all of one size, from which the KV caches of all sentences are made. Blocks
// that one sentence returns are reused by the next, so that memory is allocated only when more of
// them are in use than ever before. Keeps a bounded number of free blocks. Thread-safe; the lock is
// held for an instant.
class KvBlockPool {
 public:
  // kept: the number of free blocks that are kept instead of being freed.
  KvBlockPool(size_t floats, size_t kept) : floats_(floats), kept_(kept) {}

  // Returns a block that is not initialised.
  kernels::AlignedBuffer<float> Take() MILLRACE_EXCLUDES(mu_);
  void Give(std::vector<kernels::AlignedBuffer<float>> blocks) MILLRACE_EXCLUDES(mu_);
  // Returns the number of free blocks.
  size_t free() const MILLRACE_EXCLUDES(mu_);

 private:
  const size_t floats_;
  const size_t kept_;
  mutable Mutex mu_;
  std::vector<kernels::AlignedBuffer<float>> free_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::seq2seq
