#pragma once

#include <cstddef>
#include <vector>

#include "models/kernels/aligned_buffer.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::seq2seq {

// Blocks of floats of one size, which the token caches of all sentences share: what one sentence
// gives back the next takes, so that memory is asked for only while there are more of them than
// ever before. Keeps a bounded number of free ones. Thread-safe; a lock held for an instant.
class CacheBlocks {
 public:
  // kept: free blocks that are not given back to the system.
  CacheBlocks(size_t floats, size_t kept) : floats_(floats), kept_(kept) {}

  // Not initialised.
  kernels::AlignedBuffer<float> Take() MILLRACE_EXCLUDES(mu_);
  void Give(std::vector<kernels::AlignedBuffer<float>> blocks) MILLRACE_EXCLUDES(mu_);
  // How many it keeps.
  size_t free() const MILLRACE_EXCLUDES(mu_);

 private:
  const size_t floats_;
  const size_t kept_;
  mutable Mutex mu_;
  std::vector<kernels::AlignedBuffer<float>> free_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::seq2seq
