#include "server/frontends/elevenlabs/voice_list.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "models/core/model_info.h"
#include "nlohmann/json.hpp"
#include "server/json/json_text.h"
#include "server/requests/speech_request.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

const models::SpeechInfo* SpeechOf(const ServedModel& model) {
  return std::get_if<models::SpeechInfo>(&model.info().details);
}

}  // namespace

std::string VoicesBody(const ModelDirectory& models) {
  Json voices = Json::array();
  std::set<std::string> seen;
  for (const auto& model : models.All()) {
    const models::SpeechInfo* info = SpeechOf(*model);
    if (info == nullptr) continue;
    for (size_t i = 0; i < info->voices.size(); ++i) {
      const std::string& voice = info->voices[i];
      if (!seen.insert(voice).second) continue;
      const bool known = i < info->voice_languages.size() && !info->voice_languages[i].empty();
      voices.push_back({{"voice_id", voice},
                        {"name", voice},
                        {"category", "premade"},
                        {"labels",
                         {{"language", known ? info->voice_languages[i] : info->language},
                          {"model", model->info().name}}},
                        {"available_for_tiers", Json::array()}});
    }
  }
  const Json answer = {{"voices", std::move(voices)}};
  return JsonText(answer);
}

std::string ModelsBody(const ModelDirectory& models) {
  Json all = Json::array();
  for (const auto& model : models.All()) {
    const models::SpeechInfo* info = SpeechOf(*model);
    if (info == nullptr) continue;
    Json languages = Json::array();
    for (const std::string& language : info->languages)
      languages.push_back({{"language_id", language}, {"name", language}});
    all.push_back({{"model_id", model->info().name},
                   {"name", model->info().name},
                   {"can_do_text_to_speech", true},
                   {"can_do_voice_conversion", false},
                   {"can_be_finetuned", false},
                   {"can_use_style", false},
                   {"can_use_speaker_boost", false},
                   {"serves_pro_voices", false},
                   {"maximum_text_length_per_request", kMaxStreamCharacters},
                   {"languages", std::move(languages)}});
  }
  return JsonText(all);
}

}  // namespace millrace::server
