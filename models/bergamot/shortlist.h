#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/bergamot/bergamot_weights.h"

namespace millrace::bergamot {

// The lexical shortlist: the few hundred target tokens, of tens of thousands, that a sentence can
// need. It is made for each sentence, never for a batch, so that a translation does not depend on
// its batch. A view into weights that must outlive it; thread-safe.
class Shortlist {
 public:
  Shortlist(const ShortlistWeights& weights, int64_t target_tokens)
      : weights_(weights), tokens_(target_tokens) {}

  // Returns tokens that ascend without repeats, at least one. Takes about a microsecond.
  std::vector<int32_t> Candidates(std::span<const int32_t> source) const;

 private:
  const ShortlistWeights weights_;
  const int64_t tokens_;
};

}  // namespace millrace::bergamot
