#pragma once

#include <cstdint>
#include <optional>

namespace millrace::models {

// Sample tokens instead of taking the likeliest; requires a beam_size of 1.
struct SamplingOverride {
  float temperature = 1.0F;
  int top_k = 0;       // 0: all
  float top_p = 1.0F;  // 0..1
  uint64_t seed = 0;   // equal seeds sample equal tokens

  friend bool operator==(const SamplingOverride&, const SamplingOverride&) = default;
};

// A request's overrides of the model's search settings. Unset fields keep the model's values; the
// ranges are those of the model's settings.
struct SearchOverrides {
  std::optional<int> beam_size = {};   // 1..16; 1: greedy
  std::optional<int> hypotheses = {};  // how many are returned, 1..beam_size
  std::optional<float> length_penalty = {};
  std::optional<int> no_repeat_ngram_size = {};
  std::optional<float> repetition_penalty = {};
  // Bounds of a sentence's translation, in tokens of the model's vocabulary.
  std::optional<int> min_target_tokens = {};
  std::optional<int> max_target_tokens = {};  // a longer translation is cut
  std::optional<SamplingOverride> sampling = {};

  friend bool operator==(const SearchOverrides&, const SearchOverrides&) = default;
};

}  // namespace millrace::models
