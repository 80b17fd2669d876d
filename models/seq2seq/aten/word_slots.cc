#include "models/seq2seq/aten/word_slots.h"

#include <cstddef>

namespace millrace::seq2seq {
namespace {

constexpr size_t kKept = 2;

}  // namespace

WordSlots::WordSlots(size_t slots) : capacity_(slots - kKept) {
  free_.reserve(capacity_);
  // The lowest is taken first.
  for (size_t slot = slots; slot-- > kKept;) free_.push_back(static_cast<int32_t>(slot));
}

std::vector<int32_t> WordSlots::Take(size_t tokens, const void* who) {
  const MutexLock lock(mu_);
  if (waiting_tokens_ != 0 && waiting_ != who) {
    if (tokens + waiting_tokens_ > free_.size()) {
      if (++refused_ >= kPatience) waiting_tokens_ = 0;
      return {};
    }
  } else {
    waiting_ = who;
    refused_ = 0;
    waiting_tokens_ = tokens > free_.size() ? tokens : 0;
    if (waiting_tokens_ != 0) return {};
  }
  const auto begin = free_.end() - static_cast<std::ptrdiff_t>(tokens);
  std::vector<int32_t> taken(begin, free_.end());
  free_.erase(begin, free_.end());
  return taken;
}

void WordSlots::Give(std::span<const int32_t> slots) {
  const MutexLock lock(mu_);
  free_.insert(free_.end(), slots.begin(), slots.end());
}

size_t WordSlots::used() const {
  const MutexLock lock(mu_);
  return capacity_ - free_.size();
}

}  // namespace millrace::seq2seq
