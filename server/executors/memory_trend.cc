#include "server/executors/memory_trend.h"

#include <algorithm>
#include <utility>

namespace millrace::server {

bool MemoryTrend::Add(uint64_t bytes) {
  least_ = std::min(least_, bytes);
  if (++samples_ < samples_of_span_) return false;
  EndSpan();
  if (spans_.size() < kSpans / 2) return false;
  if (!first_) {
    // A process takes memory when it begins to serve, which is no growth.
    first_ = LeastOfQuarter(3);
    spans_.clear();
    return false;
  }
  const uint64_t oldest = LeastOfQuarter(0);
  uint64_t last = oldest;
  for (size_t quarter = 1; quarter < 4; ++quarter) {
    const uint64_t least = LeastOfQuarter(quarter);
    if (least <= last) return false;
    last = least;
  }
  return last > *first_ && last - *first_ > most_ && last - oldest >= most_ / 8;
}

void MemoryTrend::EndSpan() {
  spans_.push_back(std::exchange(least_, kNone));
  samples_ = 0;
  if (spans_.size() <= kSpans) return;
  if (samples_of_span_ == kMostSamplesOfSpan) {
    spans_.pop_front();
    return;
  }
  // The newest one begins the next span.
  std::deque<uint64_t> merged;
  for (size_t i = 0; i + 1 < spans_.size(); i += 2)
    merged.push_back(std::min(spans_[i], spans_[i + 1]));
  least_ = spans_.back();
  samples_ = samples_of_span_;
  samples_of_span_ *= 2;
  spans_ = std::move(merged);
}

uint64_t MemoryTrend::LeastOfQuarter(size_t quarter) const {
  const auto at = [this](size_t number) {
    return spans_.begin() + static_cast<std::ptrdiff_t>(number * spans_.size() / 4);
  };
  return *std::min_element(at(quarter), at(quarter + 1));
}

}  // namespace millrace::server
