// Looks for messages of Riva's clients that break its services, or that are refused by something
// other than INVALID_ARGUMENT or NOT_FOUND in a few words. The first line names the method, the
// rest is its message, for SynthesizeOnline each one behind its length in two bytes, the higher
// first.
//
// usage: riva_messages_fuzz [-max_total_time=60] tests/fuzz/seeds/riva_messages

#include <algorithm>
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
#include "tests/fuzz/require.h"
#include "tests/unit/server/frontends/riva/riva_fixture.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

// Names in a request may be long; what an error shows of them is not.
constexpr size_t kMaxErrorBytes = 2000;

// A sample for each byte of a text.
void SpeakBytes(models::Request& request) {
  const auto& input = std::get<models::SynthesizeInput>(request.input());
  Require(models::IsValidUtf8(input.text), "speaks a text that is not UTF-8");
  models::SynthesizeOutput part;
  part.sample_rate = FakeVoice::kRate;
  part.samples.assign(input.text.size(), 0.5F);
  part.text = input.text;
  if (input.word_times) part.words = {{input.text, 8, 16, 0}};
  request.Emit(std::move(part));
  request.Finish(absl::OkStatus());
}

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
    backend.Add(PiperInfo(), {.complete = SpeakBytes});
    backend.Add(KokoroInfo(), {.complete = SpeakBytes});
    backend.Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = TranslateToItself});
  }

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

void SpeakOnline(RpcService& service, std::string_view messages) {
  testing::FakeCall call;
  while (messages.size() > 2) {
    const size_t size = static_cast<uint8_t>(messages[0]) << 8 | static_cast<uint8_t>(messages[1]);
    messages.remove_prefix(2);
    call.Send(std::string(messages.substr(0, size)));
    messages.remove_prefix(std::min(size, messages.size()));
  }
  call.EndMessages();
  call.Begin(service, "SynthesizeOnline");
  const absl::Status status = call.RunToEnd();
  if (!status.ok()) RequireRefusal(status);
  for (const std::string& message : call.written()) {
    nvidia::riva::tts::SynthesizeSpeechResponse response;
    Require(response.ParseFromString(message), "answers with something else");
  }
}

void Call(Riva& riva, std::string_view method, std::string_view message) {
  using namespace nvidia::riva;
  if (method == "SynthesizeOnline") return SpeakOnline(riva.speech, message);
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
