#include "models/translation/aten_seq2seq/hypothesis_slots.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace millrace::models {

HypothesisSlots::HypothesisSlots(std::vector<int32_t> slots)
    : all_(std::move(slots)), free_(all_), paths_(1) {}

void HypothesisSlots::Extend() {
  for (std::vector<int32_t>& path : paths_) {
    path.push_back(free_.back());
    free_.pop_back();
  }
}

void HypothesisSlots::Follow(std::span<const int32_t> parents) {
  // As most often: the one hypothesis goes on.
  if (parents.size() == 1 && paths_.size() == 1) return;
  std::vector<std::vector<int32_t>> paths;
  for (const int32_t parent : parents) paths.push_back(paths_[static_cast<size_t>(parent)]);
  paths_ = std::move(paths);
  std::unordered_set<int32_t> used;
  for (const std::vector<int32_t>& path : paths_) used.insert(path.begin(), path.end());
  free_.clear();
  std::ranges::copy_if(all_, std::back_inserter(free_),
                       [&](int32_t slot) { return !used.contains(slot); });
}

}  // namespace millrace::models
