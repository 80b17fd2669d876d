#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace millrace::seq2seq {

// The KV slots of each hypothesis of a sentence. Hypotheses share the slots of their common prefix.
// One thread at a time.
class KvSlotTable {
 public:
  // slots: one for each token that the hypotheses may get, dropped hypotheses included. The
  // hypotheses begin without a token.
  explicit KvSlotTable(std::vector<int32_t> slots, size_t hypotheses = 1);

  const std::vector<int32_t>& all() const { return all_; }
  size_t hypotheses() const { return paths_.size(); }
  // Returns the slots of the hypothesis's tokens, in their order.
  std::span<const int32_t> path(size_t hypothesis) const { return paths_[hypothesis]; }
  // Appends a slot to each hypothesis.
  void Extend();
  // Replaces the hypotheses: the i-th continues what was hypothesis parents[i].
  void Follow(std::span<const int32_t> parents);

 private:
  const std::vector<int32_t> all_;
  size_t taken_ = 0;
  std::vector<std::vector<int32_t>> paths_;
};

}  // namespace millrace::seq2seq
