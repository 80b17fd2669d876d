#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace millrace::speech {

// The share of a voice in a mix.
struct VoiceShare {
  size_t voice = 0;  // index into the model's voices
  float weight = 1;  // > 0; those of a mix sum to 1
};

// Parses the field `voice` of a request: "" (the first of the voices), "a", "a+b" in equal shares,
// or "a:0.3+b:0.7", also written "a(3)+b(7)". Weights that do not sum to 1 are divided by their
// sum. InvalidArgument names the field, the value and what is allowed.
absl::StatusOr<std::vector<VoiceShare>> ParseVoiceMix(std::string_view text,
                                                      std::span<const std::string> voices);

}  // namespace millrace::speech
