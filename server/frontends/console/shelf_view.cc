#include "server/frontends/console/shelf_view.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/json/json_text.h"

namespace millrace::server {
namespace {

using ShelfJson = nlohmann::ordered_json;

// Returns all languages of a model, each once.
std::vector<std::string> LanguagesOf(const models::ModelInfo& info) {
  std::vector<std::string> languages;
  const auto add = [&languages](const std::vector<std::string>& more) {
    for (const std::string& language : more) {
      if (!language.empty() && std::ranges::find(languages, language) == languages.end())
        languages.push_back(language);
    }
  };
  if (info.task() == models::Task::kTranslation) {
    add(SourceLanguages(info.translation()));
    add(TargetLanguages(info.translation()));
  } else if (info.task() == models::Task::kSynthesis) {
    add({info.speech().language});
    add(info.speech().languages);
    add(info.speech().voice_languages);
  }
  return languages;
}

ShelfJson ToJson(const ShelfModel& model) {
  ShelfJson json = {{"name", model.info.name},
                    {"version", StrCat(model.info.version)},
                    {"removable", model.removable}};
  if (!model.error.empty()) {
    json["error"] = model.error;
    return json;
  }
  json["task"] = std::string(models::ToString(model.info.task()));
  json["platform"] = model.info.platform;
  json["languages"] = LanguagesOf(model.info);
  json["license"] = model.info.license;
  json["bytes"] = model.bytes;
  if (!model.origin.name.empty()) {
    json["origin"] = {{"name", model.origin.name},
                      {"revision", model.origin.revision},
                      {"date", model.origin.date}};
  }
  return json;
}

}  // namespace

absl::StatusOr<std::string> ShelfView::InstalledJson(bool may_admin) const {
  MILLRACE_ASSIGN_OR_RETURN(const auto installed, shelf_.installed());
  ShelfJson json = {{"may_admin", may_admin},
                    {"may_pull", shelf_.published != nullptr},
                    {"folder", shelf_.folder}};
  ShelfJson& models = json["models"] = ShelfJson::array();
  for (const ShelfModel& model : installed) models.push_back(ToJson(model));
  return JsonText(json);
}

absl::StatusOr<std::string> ShelfView::AvailableJson(const std::function<bool()>& stop) const {
  if (shelf_.published == nullptr) return NoPull();
  MILLRACE_ASSIGN_OR_RETURN(const auto published, shelf_.published(stop));
  // They are JSON already.
  return StrCat("{\"models\":[", absl::StrJoin(published.models, ","),
                "],\"notice\":", JsonText(ShelfJson(published.notice)), "}");
}

}  // namespace millrace::server
