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
#include "tests/unit/server/requests/fake_voice.h"
#include "tests/unit/server/requests/test_backend.h"

namespace millrace::server {

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
