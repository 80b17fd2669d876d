#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"

namespace millrace::translation {

// When a beam search has enough.
enum class EarlyStopping : uint8_t {
  kNo,       // when no hypothesis at work, at its present length, beats the worst that is kept
  kAtBeams,  // as soon as beam_size hypotheses have ended
  kNever,    // when none could even at the greatest length: the classical search
};

// How translations are looked for. The defaults are greedy.
struct SearchOptions {
  static constexpr int kMaxBeam = 16;

  int beam_size = 1;            // 1..16 hypotheses at work; 1: greedy, or sampled
  int hypotheses = 1;           // how many come back, 1..beam_size
  float length_penalty = 1.0F;  // score = log probability / tokens ^ this; -10..10
  EarlyStopping early_stopping = EarlyStopping::kNo;
  int no_repeat_ngram_size = 0;     // token sequences that do not come twice, 0..64; 0: no limit
  float repetition_penalty = 1.0F;  // > 1: tokens that were there are less likely; 0.01..100

  bool sample = false;       // draw tokens instead of taking the best; with beam_size 1
  float temperature = 1.0F;  // 0.01..100
  int top_k = 0;             // draw among so many; 0: all
  float top_p = 1.0F;        // draw among the likeliest that together have this much, 0..1
  uint64_t seed = 0;         // the same seed draws the same tokens
};

// InvalidArgument naming the field, its value and what is allowed.
absl::Status CheckSearchOptions(const SearchOptions& options);

// What a search must know of the vocabulary and the sentence.
struct SearchTask {
  int64_t tokens = 0;  // of the vocabulary; scores come in rows of so many
  int32_t start = 0;   // what every hypothesis begins with; never in its tokens
  int32_t end = 0;
  bool forced_end = false;          // the last token of a translation of max_tokens is the end
  std::vector<int32_t> suppressed;  // never chosen
  // What each translation begins with: its tokens cost nothing, and count for its length.
  std::vector<int32_t> prefix;
  size_t min_tokens = 0;  // the end does not come before so many
  size_t max_tokens = 1;  // with the end; at least 1
};

}  // namespace millrace::translation
