#pragma once

#include <atomic>
#include <cstddef>
#include <utility>
#include <variant>

#include "models/core/request.h"
#include "models/text/unicode.h"
#include "tests/fuzz/require.h"
#include "tests/unit/server/requests/fake_voice.h"

namespace millrace::server {

// Speaks a sample for each byte of a text, and the pause behind it. They are added to `samples`.
inline void SpeakCounted(models::Request& request, std::atomic<size_t>& samples) {
  const auto& input = std::get<models::SynthesizeInput>(request.input());
  Require(models::IsValidUtf8(input.text), "speaks a text that is not UTF-8");
  const auto emit = [&](models::SynthesizeOutput part) {
    samples += part.samples.size();
    request.Emit(std::move(part));
  };
  models::SynthesizeOutput part = Sound(input.text.size(), input.text);
  if (input.word_times) part.words = {{input.text, 8, 16, 0}};
  if (!input.text.empty()) emit(std::move(part));
  if (input.markup.pause_after > 0) emit(Sound(100));
  request.Finish(absl::OkStatus());
}

}  // namespace millrace::server
