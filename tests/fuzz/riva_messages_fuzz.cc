// Looks for messages of Riva's clients that break its services, that are refused by something other
// than INVALID_ARGUMENT or NOT_FOUND in a few words, or of whose speech a part is lost. The first
// line names the method, the rest is its message, for SynthesizeOnline each one behind its length
// in two bytes, the higher first.
//
// usage: riva_messages_fuzz [-max_total_time=60] tests/fuzz/seeds/riva_messages

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "models/text/unicode.h"
#include "riva/nmt.pb.h"
#include "riva/tts.pb.h"
#include "server/frontends/riva/riva_synthesis_service.h"
#include "server/frontends/riva/riva_translation_service.h"
#include "tests/fakes/fake_call.h"
#include "tests/fuzz/counted_speech.h"
#include "tests/fuzz/require.h"
#include "tests/unit/server/frontends/riva/riva_fixture.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

// Names in a request may be long; what an error shows of them is not.
constexpr size_t kMaxErrorBytes = 2000;

// Each text as its translation.
void TranslateToItself(models::Request& request) {
  const auto& input = std::get<models::TranslateInput>(request.input());
  for (size_t i = 0; i < input.texts.size(); ++i) {
    models::TranslateOutput part;
    part.text_index = i;
    part.text = input.texts[i];
    part.text_finished = true;
    request.Emit(std::move(part));
  }
  request.Finish(absl::OkStatus());
}

// Riva's services with a model for each task.
struct Riva {
  Riva() {
    const auto speak = [this](models::Request& request) { SpeakCounted(request, spoken); };
    backend.Add(PiperInfo(), {.complete = speak});
    backend.Add(KokoroInfo(), {.complete = speak});
    backend.Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = TranslateToItself});
  }

  std::atomic<size_t> spoken = 0;  // samples
  TestBackend backend;
  RivaSynthesisService speech{backend.services()};
  RivaTranslationService translation{backend.services()};
};

void RequireRefusal(const absl::Status& status) {
  Require(absl::IsInvalidArgument(status) || absl::IsNotFound(status),
          "refuses with another status");
  Require(!status.message().empty(), "refuses without a reason");
  Require(status.message().size() <= kMaxErrorBytes, "refuses in many words");
  Require(models::IsValidUtf8(std::string_view(status.message().data(), status.message().size())),
          "refuses in words that are not UTF-8");
}

// Calls a method that takes one message. Response: that of the method.
template <typename Response>
void Ask(RpcService& service, std::string_view method, std::string_view message) {
  testing::FakeCall call(message);
  call.Begin(service, method);
  const absl::Status status = call.RunToEnd();
  if (!status.ok()) return RequireRefusal(status);
  Response response;
  Require(response.ParseFromString(call.reply()), "answers with something else");
}

// Requires the audio of a stream to last as long as the speech, to two of the voice's samples.
void CheckSamples(size_t bytes, size_t spoken,
                  const nvidia::riva::tts::SynthesizeSpeechRequest& settings) {
  if (settings.encoding() != nvidia::riva::LINEAR_PCM) return;
  const double rate = settings.sample_rate_hz() == 0 ? FakeVoice::kRate : settings.sample_rate_hz();
  const double heard = static_cast<double>(bytes / 2) * FakeVoice::kRate / rate;
  Require(std::abs(heard - static_cast<double>(spoken)) <= 2, "sends other audio than is spoken");
}

void SpeakOnline(Riva& riva, std::string_view messages) {
  testing::FakeCall call;
  nvidia::riva::tts::SynthesizeSpeechRequest settings;
  bool is_first = true;
  while (messages.size() > 2) {
    const size_t size = static_cast<uint8_t>(messages[0]) << 8 | static_cast<uint8_t>(messages[1]);
    messages.remove_prefix(2);
    const std::string message(messages.substr(0, size));
    if (std::exchange(is_first, false) && !settings.ParseFromString(message)) settings.Clear();
    call.Send(message);
    messages.remove_prefix(std::min(size, messages.size()));
  }
  call.EndMessages();
  riva.spoken = 0;
  call.Begin(riva.speech, "SynthesizeOnline");
  const absl::Status status = call.RunToEnd();
  if (!status.ok()) RequireRefusal(status);
  size_t audio_bytes = 0;
  for (const std::string& message : call.written()) {
    nvidia::riva::tts::SynthesizeSpeechResponse response;
    Require(response.ParseFromString(message), "answers with something else");
    audio_bytes += response.audio().size();
  }
  if (status.ok()) CheckSamples(audio_bytes, riva.spoken, settings);
}

void Call(Riva& riva, std::string_view method, std::string_view message) {
  using namespace nvidia::riva;
  if (method == "SynthesizeOnline") return SpeakOnline(riva, message);
  if (method == "Synthesize")
    return Ask<tts::SynthesizeSpeechResponse>(riva.speech, method, message);
  if (method == "GetRivaSynthesisConfig")
    return Ask<tts::RivaSynthesisConfigResponse>(riva.speech, method, message);
  if (method == "TranslateText")
    return Ask<nmt::TranslateTextResponse>(riva.translation, method, message);
  if (method == "ListSupportedLanguagePairs")
    return Ask<nmt::AvailableLanguageResponse>(riva.translation, method, message);
}

}  // namespace
}  // namespace millrace::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static millrace::server::Riva riva;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(bytes.find('\n'), bytes.size());
  millrace::server::Call(riva, bytes.substr(0, end), bytes.substr(std::min(end + 1, bytes.size())));
  return 0;
}
