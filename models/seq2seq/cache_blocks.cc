#include "models/seq2seq/cache_blocks.h"

#include <utility>

namespace millrace::seq2seq {

kernels::AlignedBuffer<float> CacheBlocks::Take() {
  {
    MutexLock lock(mu_);
    if (!free_.empty()) {
      kernels::AlignedBuffer<float> block = std::move(free_.back());
      free_.pop_back();
      return block;
    }
  }
  return kernels::AlignedBuffer<float>(floats_);
}

void CacheBlocks::Give(std::vector<kernels::AlignedBuffer<float>> blocks) {
  MutexLock lock(mu_);
  while (!blocks.empty() && free_.size() < kept_) {
    free_.push_back(std::move(blocks.back()));
    blocks.pop_back();
  }
}

size_t CacheBlocks::free() const {
  MutexLock lock(mu_);
  return free_.size();
}

}  // namespace millrace::seq2seq
