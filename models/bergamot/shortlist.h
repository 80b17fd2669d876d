#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/bergamot/bergamot_weights.h"

namespace millrace::bergamot {

// The lexical shortlist: the few hundred target tokens that a sentence can need, of tens of
// thousands. It is taken per sentence, never per batch, so that company changes no translation. A
// view into weights that must outlive it; thread-safe.
class Shortlist {
 public:
  Shortlist(const ShortlistWeights& weights, int64_t tokens) : weights_(weights), tokens_(tokens) {}

  // Ascending and without repeats; never empty. About a microsecond.
  std::vector<int32_t> Candidates(std::span<const int32_t> source) const;

 private:
  const ShortlistWeights weights_;
  const int64_t tokens_;
};

}  // namespace millrace::bergamot
