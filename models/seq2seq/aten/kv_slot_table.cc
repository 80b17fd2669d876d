#include "models/seq2seq/aten/kv_slot_table.h"

#include <utility>

namespace millrace::seq2seq {

KvSlotTable::KvSlotTable(std::vector<int32_t> slots, size_t hypotheses)
    : all_(std::move(slots)), paths_(hypotheses) {}

void KvSlotTable::Extend() {
  for (std::vector<int32_t>& path : paths_) path.push_back(all_.at(taken_++));
}

void KvSlotTable::Follow(std::span<const int32_t> parents) {
  // The most frequent case: the only hypothesis continues.
  if (parents.size() == 1 && paths_.size() == 1) return;
  std::vector<std::vector<int32_t>> paths;
  for (const int32_t parent : parents) paths.push_back(paths_[static_cast<size_t>(parent)]);
  paths_ = std::move(paths);
}

}  // namespace millrace::seq2seq
