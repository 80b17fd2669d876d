// Looks for bodies over HTTP that a protocol reads into strings that are not UTF-8, or refuses
// without a reason, or with one that grows with the body.
//
// usage: http_bodies_fuzz [-max_total_time=60] tests/fuzz/seeds/http_bodies

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "server/frontends/deepl/deepl_message.h"
#include "server/frontends/elevenlabs/speech_body.h"
#include "server/frontends/http/request_members.h"
#include "server/frontends/libretranslate/translate_message.h"
#include "server/frontends/openai/speech_json.h"
#include "server/frontends/translation_plugins/plugin_protocols.h"
#include "tests/fuzz/require.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxMessageBytes = 2'000;

// Returns true if the body was read. What was not read has a message for people.
bool CheckRead(const absl::Status& status) {
  if (status.ok()) return true;
  const std::string_view message = Message(status);
  Require(!message.empty() && message.size() <= kMaxMessageBytes, "no fit message");
  Require(models::IsValidUtf8(message), "a message that is not UTF-8");
  return false;
}

void CheckText(std::string_view text) { Require(models::IsValidUtf8(text), "not UTF-8"); }

void CheckSpeech(const SpeechRequest& speech) {
  for (const std::string* text : {&speech.model, &speech.voice, &speech.text, &speech.language})
    CheckText(*text);
}

void CheckTranslation(const TranslationRequest& translation) {
  CheckText(translation.input.source_language);
  CheckText(translation.input.target_language);
  for (const std::string& text : translation.input.texts) CheckText(text);
}

void CheckMembers(const nlohmann::json& members) {
  if (const auto deepl = ParseDeepLRequest(members); CheckRead(deepl.status()))
    CheckTranslation(deepl->translation);
  CheckRead(WantsTargets(members).status());
  for (const PluginProtocol& protocol : PluginProtocols()) {
    if (const auto plugin = protocol.parse(members); CheckRead(plugin.status()))
      CheckTranslation(plugin->translation);
  }
  if (const PluginProtocol* protocol = ProtocolOfTranslate(members); protocol != nullptr)
    CheckRead(protocol->parse(members).status());
}

void CheckBody(std::string_view body) {
  for (const SpeechRoute route : {SpeechRoute::kOpenAi, SpeechRoute::kCaptioned}) {
    if (const auto speech = ParseSpeechJson(body, route); CheckRead(speech.status()))
      CheckSpeech(speech->speech);
  }
  if (const auto speech = ParseSpeechBody(body); CheckRead(speech.status()))
    CheckSpeech(speech->speech);
  for (const char* type : {"application/json", "application/x-www-form-urlencoded"}) {
    if (const auto translation = ParseTranslateBody(type, body); CheckRead(translation.status()))
      CheckTranslation(translation->translation);
    if (const auto members = ParseMembers(type, body); CheckRead(members.status()))
      CheckMembers(*members);
  }
}

}  // namespace
}  // namespace millrace::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  millrace::server::CheckBody({reinterpret_cast<const char*>(data), size});
  return 0;
}
