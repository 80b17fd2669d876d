#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/core/request.h"
#include "mps_runtime/base/mutex.h"
#include "tests/fakes/fake_model.h"

namespace millrace::server {

// Returns so many samples of a voice that VoiceInfo describes.
inline models::SynthesizeOutput Sound(size_t samples, std::string text = "") {
  models::SynthesizeOutput sound;
  sound.sample_rate = 8000;
  sound.samples.assign(samples, 0.5F);
  sound.text = std::move(text);
  return sound;
}

// Speaks each request as one sentence, with a sample for each byte, one word and the pauses of its
// markup.
inline void SpeakBytes(models::Request& request) {
  const auto& input = std::get<models::SynthesizeInput>(request.input());
  models::SynthesizeOutput part = Sound(input.text.size(), input.text);
  double pause = input.markup.pause_after;
  for (const auto& marked : input.markup.parts) pause += std::max(marked.pause, 0.0);
  part.samples.resize(part.samples.size() + static_cast<size_t>(pause * part.sample_rate));
  if (input.word_times) part.words = {{input.text, 8, 16, 2}};
  request.Emit(std::move(part));
  request.Finish(absl::OkStatus());
}

// Keeps its requests in order and speaks them. Thread-safe.
class FakeVoice {
 public:
  static constexpr int kRate = 8000;

  // before: what the worker does first.
  testing::ModelHooks Hooks(std::function<void()> before = [] {}) {
    return {.complete = [this, before = std::move(before)](models::Request& request) {
      before();
      {
        const MutexLock lock(mu_);
        seen_.push_back(std::get<models::SynthesizeInput>(request.input()));
      }
      SpeakBytes(request);
    }};
  }
  std::vector<models::SynthesizeInput> seen() const MILLRACE_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    return seen_;
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (const models::SynthesizeInput& input : seen()) texts.push_back(input.text);
    return texts;
  }

 private:
  mutable Mutex mu_;
  std::vector<models::SynthesizeInput> seen_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
