#include "server/frontends/wyoming/voice_list.h"

#include <utility>
#include <vector>

#include "models/core/speech_choice.h"
#include "models/core/strings.h"
#include "server/control/version.h"
#include "server/frontends/wyoming/event.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

// Readers insist on both; neither a model nor this program has a page that it could name.
Json Attribution(std::string_view name) { return {{"name", name}, {"url", ""}}; }

// The languages in which a client is to offer the voice. Requests that name it are in the first.
std::vector<std::string> LanguagesOf(const models::SpeechInfo& info, const std::string& voice) {
  std::string own = models::LanguageOfVoice(info, voice);
  if (own.empty()) return info.languages;
  return {std::move(own)};
}

}  // namespace

std::string VoiceName(const models::ModelInfo& model, std::string_view voice) {
  return StrCat(model.name, "/", voice);
}

std::string MakeInfoEvent(const ModelDirectory& models) {
  Json voices = Json::array();
  for (const auto& model : models.All()) {
    const models::ModelInfo& info = model->info();
    if (info.task() != models::Task::kSynthesis) continue;
    for (const std::string& voice : info.speech().voices) {
      voices.push_back({{"name", VoiceName(info, voice)},
                        {"attribution", Attribution(info.name)},
                        {"installed", true},
                        {"description", StrCat(voice, " (", info.name, ")")},
                        {"version", StrCat(info.version)},
                        {"languages", LanguagesOf(info.speech(), voice)},
                        {"speakers", nullptr}});
    }
  }
  Json data = Json::object();
  for (const char* kind : {"asr", "tts", "handle", "intent", "wake", "mic", "snd"})
    data[kind] = Json::array();
  data["tts"].push_back({{"name", kWyomingProgram},
                         {"attribution", Attribution("Millrace")},
                         {"installed", true},
                         {"description", "Millrace"},
                         {"version", kVersion},
                         {"voices", std::move(voices)},
                         {"supports_synthesize_streaming", true}});
  return SerializeEvent("info", data);
}

}  // namespace millrace::server
