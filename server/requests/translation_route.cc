#include "server/requests/translation_route.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "models/core/language_tag.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

using Models = std::vector<std::shared_ptr<ServedModel>>;

constexpr std::string_view kPivot = "en";

Models Translators(const ModelDirectory& directory) {
  Models models = directory.All();
  std::erase_if(
      models, [](const auto& model) { return model->info().task() != models::Task::kTranslation; });
  return models;
}

bool Translates(const models::ModelInfo& info, std::string_view source, std::string_view target) {
  return models::HasLanguage(SourceLanguages(info.translation()), source) &&
         models::HasLanguage(TargetLanguages(info.translation()), target) &&
         !absl::EqualsIgnoreCase(View(source), View(target));
}

// Returns the model with the fewest languages, which is the most specialised; null if none fits.
std::shared_ptr<ServedModel> BestFor(const Models& models, std::string_view source,
                                     std::string_view target) {
  std::shared_ptr<ServedModel> best;
  size_t fewest = 0;
  for (const auto& model : models) {
    const models::ModelInfo& info = model->info();
    if (!Translates(info, source, target)) continue;
    const models::TranslationInfo& translation = info.translation();
    const size_t languages =
        SourceLanguages(translation).size() + TargetLanguages(translation).size();
    if (best != nullptr && languages >= fewest) continue;
    best = model;
    fewest = languages;
  }
  return best;
}

// Returns the route by way of the pivot; without models if there is none.
TranslationRoute PivotRoute(const Models& models, std::string_view source,
                            std::string_view target) {
  TranslationRoute route{std::string(source), std::string(target), std::string(kPivot), {}};
  auto first = BestFor(models, source, kPivot);
  auto second = BestFor(models, kPivot, target);
  if (first != nullptr && second != nullptr) route.models = {std::move(first), std::move(second)};
  return route;
}

// Finds a route between tags that are exactly the models' own, or that no model has.
absl::StatusOr<TranslationRoute> FindExactRoute(const ModelDirectory& directory,
                                                const Models& models, std::string_view source,
                                                std::string_view target, bool choose) {
  const bool both = !source.empty() && !target.empty();
  auto direct = directory.FindTranslator(source, target);
  if (direct.ok()) {
    const models::ModelInfo& info = (*direct)->info();
    return TranslationRoute{
        source.empty() ? info.translation().source_language : std::string(source),
        target.empty() ? info.translation().target_language : std::string(target),
        {},
        {*direct}};
  }
  if (!both) return direct.status();
  if (auto best = choose ? BestFor(models, source, target) : nullptr)
    return TranslationRoute{std::string(source), std::string(target), {}, {std::move(best)}};
  if (!absl::IsNotFound(direct.status())) return direct.status();
  TranslationRoute route = PivotRoute(models, source, target);
  if (route.models.empty()) return direct.status();
  return route;
}

}  // namespace

absl::StatusOr<TranslationRoute> FindRoute(const ModelDirectory& directory, std::string_view source,
                                           std::string_view target, bool choose) {
  const Models models = Translators(directory);
  std::vector<std::string> read;
  std::vector<std::string> written;
  for (const auto& model : models) {
    for (std::string& language : SourceLanguages(model->info().translation()))
      read.push_back(language);
    for (std::string& language : TargetLanguages(model->info().translation()))
      written.push_back(language);
  }
  const auto has = [](const std::vector<std::string>& languages, std::string_view tag) {
    return tag.empty() || std::ranges::find(languages, tag) != languages.end();
  };
  if (source != target && has(read, source) && has(written, target)) {
    // The tags are those of the models, so there is nothing to look up.
    auto route = FindExactRoute(directory, models, source, target, choose);
    if (route.ok() || !absl::IsNotFound(route.status())) return route;
  }
  if (!source.empty() && !target.empty()) {
    std::vector<std::string> all = read;
    all.insert(all.end(), written.begin(), written.end());
    const std::string language = models::LookUpLanguage(all, target);
    if (!language.empty() && models::LookUpLanguage(all, source) == language)
      return TranslationRoute{language, language, {}, {}};
  }
  const auto meant = [](const std::vector<std::string>& languages, std::string_view tag) {
    std::vector<std::string> tags = models::LanguagesMeant(languages, tag);
    if (tags.empty()) tags.emplace_back(tag);  // no tag, or an unknown one
    return tags;
  };
  for (const std::string& from : meant(read, source)) {
    for (const std::string& to : meant(written, target)) {
      auto route = FindExactRoute(directory, models, from, to, choose);
      if (route.ok() || !absl::IsNotFound(route.status())) return route;
    }
  }
  // The error names the languages as the client did.
  return FindExactRoute(directory, models, source, target, choose);
}

std::vector<TranslationRoute> AllRoutes(const ModelDirectory& directory) {
  const Models models = Translators(directory);
  std::map<std::pair<std::string, std::string>, Models> direct;
  std::vector<std::string> sources;
  std::vector<std::string> targets;
  for (const auto& model : models) {
    for (const std::string& source : SourceLanguages(model->info().translation())) {
      sources.push_back(source);
      for (const std::string& target : TargetLanguages(model->info().translation())) {
        targets.push_back(target);
        if (!absl::EqualsIgnoreCase(source, target)) direct[{source, target}].push_back(model);
      }
    }
  }
  for (std::vector<std::string>* languages : {&sources, &targets}) {
    std::ranges::sort(*languages);
    languages->erase(std::unique(languages->begin(), languages->end()), languages->end());
  }
  std::vector<TranslationRoute> routes;
  for (const std::string& source : sources) {
    for (const std::string& target : targets) {
      if (const auto found = direct.find({source, target}); found != direct.end()) {
        routes.push_back({source, target, {}, found->second});
      } else if (!absl::EqualsIgnoreCase(source, target)) {
        TranslationRoute route = PivotRoute(models, source, target);
        if (!route.models.empty()) routes.push_back(std::move(route));
      }
    }
  }
  return routes;
}

}  // namespace millrace::server
