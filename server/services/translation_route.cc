#include "server/services/translation_route.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

using Models = std::vector<std::shared_ptr<ServedModel>>;

constexpr std::string_view kPivot = "en";

Models Translators(const ModelDirectory& directory) {
  Models models = directory.All();
  std::erase_if(models,
                [](const auto& model) { return model->info().task != models::Task::kTranslation; });
  return models;
}

bool Translates(const models::ModelInfo& info, std::string_view source, std::string_view target) {
  return models::HasLanguage(SourceLanguages(info), source) &&
         models::HasLanguage(TargetLanguages(info), target) &&
         !absl::EqualsIgnoreCase(View(source), View(target));
}

// The one made for the pair before one that has many languages; null when none does it.
std::shared_ptr<ServedModel> BestFor(const Models& models, std::string_view source,
                                     std::string_view target) {
  std::shared_ptr<ServedModel> best;
  size_t fewest = 0;
  for (const auto& model : models) {
    const models::ModelInfo& info = model->info();
    if (!Translates(info, source, target)) continue;
    const size_t languages = SourceLanguages(info).size() + TargetLanguages(info).size();
    if (best != nullptr && languages >= fewest) continue;
    best = model;
    fewest = languages;
  }
  return best;
}

bool IsKnown(const Models& models, std::string_view language) {
  return std::ranges::any_of(models, [language](const auto& model) {
    return models::HasLanguage(SourceLanguages(model->info()), language) ||
           models::HasLanguage(TargetLanguages(model->info()), language);
  });
}

// By way of the pivot; without models when there is none.
TranslationRoute PivotRoute(const Models& models, std::string_view source,
                            std::string_view target) {
  TranslationRoute route{std::string(source), std::string(target), std::string(kPivot), {}};
  auto first = BestFor(models, source, kPivot);
  auto second = BestFor(models, kPivot, target);
  if (first != nullptr && second != nullptr) route.models = {std::move(first), std::move(second)};
  return route;
}

std::string_view Primary(std::string_view tag) { return tag.substr(0, tag.find('-')); }

}  // namespace

absl::StatusOr<TranslationRoute> FindRoute(const ModelDirectory& directory, std::string_view source,
                                           std::string_view target, bool choose) {
  const Models models = Translators(directory);
  const bool both = !source.empty() && !target.empty();
  if (both && absl::EqualsIgnoreCase(View(source), View(target)) && IsKnown(models, target))
    return TranslationRoute{std::string(source), std::string(target), {}, {}};
  auto direct = directory.FindTranslator(source, target);
  if (direct.ok()) {
    const models::ModelInfo& info = (*direct)->info();
    return TranslationRoute{source.empty() ? info.source_language : std::string(source),
                            target.empty() ? info.target_language : std::string(target),
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

std::vector<TranslationRoute> AllRoutes(const ModelDirectory& directory) {
  const Models models = Translators(directory);
  std::map<std::pair<std::string, std::string>, Models> direct;
  std::vector<std::string> sources;
  std::vector<std::string> targets;
  for (const auto& model : models) {
    for (const std::string& source : SourceLanguages(model->info())) {
      sources.push_back(source);
      for (const std::string& target : TargetLanguages(model->info())) {
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

std::string LanguageMeant(const std::vector<std::string>& languages, std::string_view detected) {
  // Of Norwegian's two written forms, detectors only say Norwegian.
  const std::string_view other = detected == "no" ? "nb" : detected;
  for (const std::string_view tag : {detected, other}) {
    for (const std::string& language : languages) {
      if (absl::EqualsIgnoreCase(language, View(tag))) return language;
    }
  }
  for (const std::string& language : languages) {
    if (absl::EqualsIgnoreCase(View(Primary(language)), View(Primary(other)))) return language;
  }
  return "";
}

}  // namespace millrace::server
