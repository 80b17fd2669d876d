#pragma once

#include <cstdint>
#include <optional>

namespace millrace::models {

// Tokens are drawn instead of the best taken; with a beam_size of 1.
struct SamplingOverride {
  float temperature = 1.0F;
  int top_k = 0;       // 0: all
  float top_p = 1.0F;  // 0..1
  uint64_t seed = 0;   // the same seed draws the same tokens

  friend bool operator==(const SamplingOverride&, const SamplingOverride&) = default;
};

// What one request asks of the search for its translations. What is unset stays as the model has
// it; ranges are those of the model's own settings.
struct SearchOverrides {
  std::optional<int> beam_size = {};   // 1..16; 1: greedy
  std::optional<int> hypotheses = {};  // how many come back, 1..beam_size
  std::optional<float> length_penalty = {};
  std::optional<int> no_repeat_ngram_size = {};
  std::optional<float> repetition_penalty = {};
  // Tokens of the model's vocabulary in the translation of a sentence.
  std::optional<int> min_target_tokens = {};
  std::optional<int> max_target_tokens = {};  // a longer translation is cut
  std::optional<SamplingOverride> sampling = {};

  friend bool operator==(const SearchOverrides&, const SearchOverrides&) = default;
};

}  // namespace millrace::models
