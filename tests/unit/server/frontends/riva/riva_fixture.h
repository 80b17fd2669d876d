#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mps_runtime/base/mutex.h"
#include "riva/tts.pb.h"
#include "server/frontends/riva/riva_synthesis_service.h"
#include "tests/fakes/fake_call.h"
#include "tests/unit/server/requests/test_backend.h"

namespace millrace::server {

// Keeps its requests in order. Speaks each as one sentence, with a sample for each byte, one word
// and the pauses of its markup.
class FakeVoice {
 public:
  static constexpr int kRate = 8000;

  testing::ModelHooks Hooks() {
    return {.complete = [this](models::Request& request) {
      const auto& input = std::get<models::SynthesizeInput>(request.input());
      {
        MutexLock lock(mu_);
        seen_.push_back(input);
      }
      models::SynthesizeOutput part;
      part.sample_rate = kRate;
      part.samples.assign(input.text.size(), 0.5F);
      double pause = input.markup.pause_after;
      for (const auto& marked : input.markup.parts) pause += std::max(marked.pause, 0.0);
      part.samples.resize(part.samples.size() + static_cast<size_t>(pause * kRate));
      part.text = input.text;
      if (input.word_times) part.words = {{input.text, 8, 16, 0}};
      request.Emit(std::move(part));
      request.Finish(absl::OkStatus());
    }};
  }
  std::vector<models::SynthesizeInput> seen() const MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return seen_;
  }

 private:
  mutable Mutex mu_;
  std::vector<models::SynthesizeInput> seen_ MILLRACE_GUARDED_BY(mu_);
};

inline models::ModelInfo KokoroInfo() {
  models::ModelInfo info;
  info.name = "kokoro";
  info.platform = "kokoro";
  info.details = models::SpeechInfo{.voices = {"heart", "alpha"},
                                    .language = "en-US",
                                    .languages = {"en-US", "ja"},
                                    .voice_languages = {"en-US", "ja"},
                                    .speech_cost = 20,
                                    .sample_rate = FakeVoice::kRate,
                                    .pronunciation_languages = {"en-US"}};
  return info;
}

inline models::ModelInfo PiperInfo() {
  models::ModelInfo info;
  info.name = "joe";
  info.platform = "vits";
  info.details = models::SpeechInfo{.voices = {"joe"},
                                    .language = "en-US",
                                    .languages = {"en-US"},
                                    .voice_languages = {"en-US"},
                                    .sample_rate = FakeVoice::kRate};
  return info;
}

// Riva's speech with two models, over fake calls.
class RivaSpeechTest : public ::testing::Test {
 protected:
  using Request = nvidia::riva::tts::SynthesizeSpeechRequest;
  using Response = nvidia::riva::tts::SynthesizeSpeechResponse;

  RivaSpeechTest() {
    backend_.Add(PiperInfo(), voice_.Hooks());
    backend_.Add(KokoroInfo(), voice_.Hooks());
  }

  static Request Say(const std::string& text) {
    Request request;
    request.set_text(text);
    request.set_language_code("en-US");
    return request;
  }

  FakeVoice voice_;
  TestBackend backend_;
  RivaSynthesisService service_{backend_.services()};
};

}  // namespace millrace::server
