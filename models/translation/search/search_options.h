#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"

namespace millrace::translation {

// When a beam search stops.
enum class EarlyStopping : uint8_t {
  kNo,       // when no live hypothesis, at its present length, beats the worst that is kept
  kAtBeams,  // as soon as beam_size hypotheses have ended
  kNever,    // when none could even at the greatest length: classical beam search
};

// The options of a search. The defaults are greedy search.
struct SearchOptions {
  static constexpr int kMaxBeam = 16;

  int beam_size = 1;            // 1..16 live hypotheses; 1: greedy search or sampling
  int hypotheses = 1;           // how many are returned, 1..beam_size
  float length_penalty = 1.0F;  // score = log probability / tokens ^ this; -10..10
  EarlyStopping early_stopping = EarlyStopping::kNo;
  // Length of token sequences that do not occur twice, 0..64; 0: no limit.
  int no_repeat_ngram_size = 0;
  float repetition_penalty = 1.0F;  // > 1: makes tokens that have occurred less likely; 0.01..100

  bool sample = false;       // sample tokens instead of taking the best; with beam_size 1
  float temperature = 1.0F;  // 0.01..100
  int top_k = 0;             // sample among this many; 0: all
  float top_p = 1.0F;        // sample among the likeliest that together have this probability, 0..1
  uint64_t seed = 0;         // equal seeds sample equal tokens
};

// Returns InvalidArgument that names the field, its value and what is allowed.
absl::Status CheckSearchOptions(const SearchOptions& options);

// The vocabulary and the sentence, as far as a search needs them.
struct SearchTask {
  int64_t tokens = 0;  // the size of the vocabulary and of a row of scores
  int32_t start = 0;   // the decoder's first input, never part of a result
  int32_t end = 0;
  bool forced_end = false;          // the last token of a translation of max_tokens is the end
  std::vector<int32_t> suppressed;  // never chosen
  // The tokens that each translation begins with. They add nothing to the score, but count for the
  // length.
  std::vector<int32_t> prefix;
  size_t min_tokens = 0;  // the end is forbidden before
  size_t max_tokens = 1;  // the end included; at least 1
};

}  // namespace millrace::translation
