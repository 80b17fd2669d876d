#include "models/seq2seq/kv_block_pool.h"

#include <utility>

namespace millrace::seq2seq {

kernels::AlignedBuffer<float> KvBlockPool::Take() {
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

void KvBlockPool::Give(std::vector<kernels::AlignedBuffer<float>> blocks) {
  MutexLock lock(mu_);
  while (!blocks.empty() && free_.size() < kept_) {
    free_.push_back(std::move(blocks.back()));
    blocks.pop_back();
  }
}

size_t KvBlockPool::free() const {
  MutexLock lock(mu_);
  return free_.size();
}

}  // namespace millrace::seq2seq
