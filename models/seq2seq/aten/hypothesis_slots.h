#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace millrace::seq2seq {

// Which of a sentence's slots hold the tokens of each of its hypotheses. Hypotheses that began
// alike share the slots of their beginning. One thread at a time.
class HypothesisSlots {
 public:
  // All slots of the sentence: as many as its hypotheses can come to have tokens, those that will
  // be dropped too. The hypotheses have no token yet.
  explicit HypothesisSlots(std::vector<int32_t> slots, size_t hypotheses = 1);

  const std::vector<int32_t>& all() const { return all_; }
  size_t hypotheses() const { return paths_.size(); }
  // Of the hypothesis's tokens, the first one's in front.
  std::span<const int32_t> path(size_t hypothesis) const { return paths_[hypothesis]; }
  // A slot for one token more of each.
  void Extend();
  // From now on there are as many as parents, each continuing the one of that number.
  void Follow(std::span<const int32_t> parents);

 private:
  const std::vector<int32_t> all_;
  size_t taken_ = 0;
  std::vector<std::vector<int32_t>> paths_;
};

}  // namespace millrace::seq2seq
