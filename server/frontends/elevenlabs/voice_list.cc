#include "server/frontends/elevenlabs/voice_list.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "models/core/model_info.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/json/json_text.h"
#include "server/requests/speech_request.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

const models::SpeechInfo* SpeechOf(const ServedModel& model) {
  return std::get_if<models::SpeechInfo>(&model.info().details);
}

Json AllVoices(const ModelDirectory& models) {
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
  return voices;
}

Json Subscription() {
  // Numbers as ElevenLabs has them, without a limit.
  constexpr int64_t kUnlimited = 1'000'000'000'000;
  return {{"tier", "free"},
          {"character_count", 0},
          {"character_limit", kUnlimited},
          {"max_credit_limit_extension", 0},
          {"can_extend_character_limit", false},
          {"allowed_to_extend_character_limit", false},
          {"voice_slots_used", 0},
          {"professional_voice_slots_used", 0},
          {"professional_voice_slots_used_in_workspace", 0},
          {"voice_limit", 0},
          {"voice_add_edit_counter", 0},
          {"professional_voice_limit", 0},
          {"can_extend_voice_limit", false},
          {"can_use_instant_voice_cloning", false},
          {"can_use_professional_voice_cloning", false},
          {"current_overage", {{"amount", "0"}, {"currency", "usd"}}},
          {"status", "active"},
          {"open_invoices", Json::array()},
          {"has_open_invoices", false}};
}

}  // namespace

std::string VoicesBody(const ModelDirectory& models) {
  return JsonText(Json{{"voices", AllVoices(models)}});
}

std::string VoiceSearchBody(const ModelDirectory& models, const VoiceSearch& search, size_t begin,
                            size_t most) {
  Json found = Json::array();
  const std::string wanted = absl::AsciiStrToLower(search.words);
  for (Json& voice : AllVoices(models)) {
    if (!search.ids.empty() && !search.ids.contains(voice["voice_id"].get<std::string>())) continue;
    if (!search.category.empty() && voice["category"] != search.category) continue;
    const auto has = [&wanted](const Json& text) {
      return absl::StrContains(absl::AsciiStrToLower(text.get_ref<const std::string&>()), wanted);
    };
    if (has(voice["name"]) || has(voice["labels"]["model"]) || has(voice["labels"]["language"]))
      found.push_back(std::move(voice));
  }
  const size_t total = found.size();
  begin = std::min(begin, total);
  const size_t end = begin + std::min(most, total - begin);
  Json page = Json::array();
  for (size_t i = begin; i < end; ++i) page.push_back(std::move(found[i]));
  return JsonText(Json{{"voices", std::move(page)},
                       {"has_more", end < total},
                       {"total_count", total},
                       {"next_page_token", end < total ? Json(StrCat(end)) : Json()}});
}

std::string VoiceBody(const ModelDirectory& models, const std::string& voice) {
  for (const Json& known : AllVoices(models)) {
    if (absl::EqualsIgnoreCase(known["voice_id"].get_ref<const std::string&>(), voice))
      return JsonText(known);
  }
  return "";
}

std::string VoiceSettingsBody() {
  return JsonText(Json{{"stability", 0.5},
                       {"similarity_boost", 0.75},
                       {"style", 0.0},
                       {"use_speaker_boost", false},
                       {"speed", 1.0}});
}

std::string UserBody() {
  return JsonText(Json{{"user_id", "millrace"},
                       {"workspace_id", "millrace"},
                       {"subscription", Subscription()},
                       {"is_new_user", false},
                       {"can_use_delayed_payment_methods", false},
                       {"is_onboarding_completed", true},
                       {"is_onboarding_checklist_completed", true},
                       {"created_at", 0},
                       {"seat_type", "workspace_member"}});
}

std::string SubscriptionBody() { return JsonText(Subscription()); }

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
