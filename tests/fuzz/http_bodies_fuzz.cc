// Looks for bodies of requests over HTTP that break their readers, that are refused by something
// other than INVALID_ARGUMENT in a few words, or that are taken although what comes of them cannot
// be answered. The first line names the reader, the rest is the body.
//
// usage: http_bodies_fuzz [-max_total_time=60] tests/fuzz/seeds/http_bodies

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/unicode.h"
#include "nlohmann/json.hpp"
#include "server/frontends/deepl/deepl_message.h"
#include "server/frontends/elevenlabs/speech_body.h"
#include "server/frontends/http/request_members.h"
#include "server/frontends/libretranslate/translate_message.h"
#include "server/frontends/openai/speech_json.h"
#include "server/frontends/translation_plugins/plugin_protocols.h"
#include "server/http/json_body.h"
#include "tests/fuzz/require.h"

namespace millrace::server {
namespace {

// Names in a request may be long; what an error shows of them is not.
constexpr size_t kMaxMessageBytes = 1000;

void RequireRefusal(const absl::Status& status) {
  Require(absl::IsInvalidArgument(status), "refuses with another status");
  Require(!status.message().empty(), "refuses without a reason");
  Require(status.message().size() <= kMaxMessageBytes, "refuses in many words");
}

void RequireUtf8(const std::vector<std::string>& texts) {
  for (const std::string& text : texts)
    Require(models::IsValidUtf8(text), "takes a text that is not UTF-8");
}

void ReadSpeech(std::string_view body, SpeechRoute route) {
  const auto request = ParseSpeechJson(body, route);
  if (!request.ok()) return RequireRefusal(request.status());
  const SpeechRequest& speech = request->speech;
  RequireUtf8({speech.model, speech.voice, speech.text, speech.phonemes, speech.language});
  Require(!speech.word_times || request->framing != SpeechFraming::kAudio,
          "takes times that have no place in the answer");
  Require(speech.format != models::AudioFormat::kPcmS16 || speech.sample_rate != 0,
          "takes samples of no rate");
}

// Answers with the texts themselves.
void Answer(const HttpTranslateRequest& request) {
  const std::vector<std::string>& texts = request.translation.input.texts;
  std::vector<TranslationResults::Text> results(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) results[i].text = texts[i];
  const auto answer = nlohmann::json::parse(
      TranslateBody(request, std::vector<TranslationText>(texts.size()), std::move(results)));
  const nlohmann::json& translated = answer.at("translatedText");
  Require(translated.is_array() == request.list, "answers in another form");
  Require(request.list ? translated == nlohmann::json(texts) : translated == texts.front(),
          "answers with other texts");
}

void ReadTranslation(std::string_view content_type, std::string_view body) {
  Query query;
  const auto request = ParseTranslateBody(content_type, body, query);
  if (!request.ok()) return RequireRefusal(request.status());
  RequireUtf8(request->translation.input.texts);
  if (const absl::Status status = CheckTranslate(*request); !status.ok())
    return RequireRefusal(status);
  Answer(*request);
}

void ReadDeepL(std::string_view body) {
  if (!models::IsValidUtf8(body)) return;  // the route refuses it
  const auto members = ParseJsonObject(body);
  if (!members.ok()) return RequireRefusal(members.status());
  const auto request = ParseDeepLRequest(*members);
  if (!request.ok()) return RequireRefusal(request.status());
  RequireUtf8(request->translation.input.texts);
  Require(!request->translation.input.target_language.empty(), "takes a text without a target");
}

void ReadElevenLabs(std::string_view body) {
  const auto request = ParseSpeechBody(body);
  if (!request.ok()) return RequireRefusal(request.status());
  RequireUtf8({request->speech.text, request->speech.language});
}

void ReadPlugins(std::string_view body) {
  const auto members = ParseMembers("application/json", body);
  if (!members.ok()) return RequireRefusal(members.status());
  for (const PluginProtocol& protocol : PluginProtocols()) {
    const auto request = ParsePluginRequest(protocol, *members);
    if (request.ok()) {
      RequireUtf8(request->translation.input.texts);
    } else {
      RequireRefusal(request.status());
    }
  }
}

void Read(std::string_view reader, std::string_view body) {
  if (reader == "speech") return ReadSpeech(body, SpeechRoute::kOpenAi);
  if (reader == "captioned") return ReadSpeech(body, SpeechRoute::kCaptioned);
  if (reader == "translate") return ReadTranslation("application/json", body);
  if (reader == "form") return ReadTranslation("application/x-www-form-urlencoded", body);
  if (reader == "deepl") return ReadDeepL(body);
  if (reader == "elevenlabs") return ReadElevenLabs(body);
  if (reader == "plugins") return ReadPlugins(body);
}

}  // namespace
}  // namespace millrace::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(bytes.find('\n'), bytes.size());
  millrace::server::Read(bytes.substr(0, end), bytes.substr(std::min(end + 1, bytes.size())));
  return 0;
}
