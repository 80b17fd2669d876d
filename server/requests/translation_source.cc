#include "server/requests/translation_source.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/core/errors.h"
#include "models/core/language_tag.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

// Language detection reads at most this much of a request's texts together.
constexpr size_t kMaxDetectedBytes = 32 << 10;
// A text whose detection has at most this confidence is read in the language of all texts.
constexpr float kUnsure = 0.5F;

// Returns the model's language that the client means.
absl::StatusOr<std::string> LookUp(std::string_view field, const std::string& asked,
                                   const std::vector<std::string>& have,
                                   const std::string& default_language, const std::string& model) {
  constexpr size_t kMaxShown = 32;
  if (asked.empty()) return default_language;
  if (std::string found = models::LookUpLanguage(have, asked); !found.empty()) return found;
  std::string allowed;
  for (size_t i = 0; i < std::min(have.size(), kMaxShown); ++i)
    absl::StrAppend(&allowed, i == 0 ? "'" : ", '", have[i], "'");
  if (have.size() > kMaxShown)
    absl::StrAppend(&allowed, " and ", have.size() - kMaxShown, " more, which the model list has");
  return InvalidArgument(field, ": '", asked.substr(0, 64), "' is not what model '", model,
                         "' has: ", allowed);
}

// Returns the route of a model that the request names.
absl::StatusOr<TranslationRoute> RouteOf(std::shared_ptr<ServedModel> model,
                                         const std::string& source, const std::string& target) {
  const models::ModelInfo& info = model->info();
  const models::TranslationInfo& languages = info.translation();
  MILLRACE_ASSIGN_OR_RETURN(auto from, LookUp("source_language", source, SourceLanguages(languages),
                                              languages.source_language, info.name));
  MILLRACE_ASSIGN_OR_RETURN(auto to, LookUp("target_language", target, TargetLanguages(languages),
                                            languages.target_language, info.name));
  return TranslationRoute{std::move(from), std::move(to), {}, {std::move(model)}};
}

absl::StatusOr<TranslationRoute> RouteFrom(const TranslationRequest& request,
                                           const std::string& source, const Services& services) {
  const std::string& target = request.input.target_language;
  if (request.model.empty())
    return FindRoute(services.models, source, target, request.choose_model);
  MILLRACE_ASSIGN_OR_RETURN(auto model,
                            services.models.FindForTask(models::Task::kTranslation, request.model,
                                                        request.model_version));
  return RouteOf(std::move(model), source, target);
}

bool IsHtml(const TranslationRequest& request) {
  return request.input.format == models::TextFormat::kHtml;
}

// Finds routes from detected languages. Each language is looked up once.
class Detection {
 public:
  struct Choice {
    absl::StatusOr<TranslationRoute> route;
    models::DetectedLanguage read_in = {};
    std::string untranslated = {};  // as TranslationText::untranslated
  };

  // model: the name of the one that the request names; empty: any may be meant.
  Detection(const TranslationRequest& request, const std::string& model, const Services& services)
      : request_(request), services_(services), target_(request.input.target_language) {
    for (const auto& loaded : services.models.All()) {
      const models::ModelInfo& info = loaded->info();
      if (info.task() != models::Task::kTranslation) continue;
      if (!model.empty() && model != info.name) continue;
      for (std::string& language : SourceLanguages(info.translation()))
        languages_.push_back(std::move(language));
      if (!model.empty() && target_.empty()) target_ = info.translation().target_language;
      reaches_target_ |=
          !models::LookUpLanguage(models::TargetLanguages(info.translation()), target_).empty();
    }
    // A text may already be in the target language.
    if (model.empty()) languages_.push_back(target_);
  }

  // Returns the language of a text; an empty language: it cannot be told.
  models::DetectedLanguage Detect(const std::string& text) {
    return models::DetectLanguageAmong(text, IsHtml(request_), [this](const std::string& language) {
      return Find(language) != nullptr;
    });
  }

  // Chooses the route from a detected language. A text in a language that no model reads needs
  // none.
  Choice Choose(const models::DetectedLanguage& detected) {
    if (const auto* route = Find(detected.language); route != nullptr) {
      if (!route->ok()) return {*route};
      return {*route, {(*route)->source_language, detected.confidence}};
    }
    if (!detected.language.empty()) {
      // Text comes back as it is only where another text would be translated.
      if (!reaches_target_) return {From(detected.language)};
      return {TranslationRoute{detected.language, target_, {}, {}}, detected,
              StrCat("source_language: 'auto' takes the text for '", detected.language,
                     "', which no model that could be meant translates into '", target_,
                     "'; it is returned as it is; name the language or load a model")};
    }
    if (!request_.fallback_language.empty()) {
      const auto& route = From(request_.fallback_language);
      if (!route.ok()) return {route};
      return {route, {route->source_language, 0}};
    }
    return {
        InvalidArgument("source_language: 'auto' cannot tell the language of the texts; name it")};
  }

 private:
  using Route = absl::StatusOr<TranslationRoute>;

  // Returns the route from a language that was detected; nullptr: no model could be meant.
  const Route* Find(const std::string& detected) {
    if (detected.empty()) return nullptr;
    const std::string language = models::LookUpLanguage(languages_, detected);
    if (language.empty()) return nullptr;
    const Route& route = From(language);
    return route.ok() || !absl::IsNotFound(route.status()) ? &route : nullptr;
  }

  const Route& From(const std::string& language) {
    const auto found = routes_.find(language);
    if (found != routes_.end()) return found->second;
    return routes_.emplace(language, RouteFrom(request_, language, services_)).first->second;
  }

  const TranslationRequest& request_;
  const Services& services_;
  std::string target_;  // the request's language, or else that of the model that it names
  std::vector<std::string> languages_;
  bool reaches_target_ = false;  // by some loaded model
  std::map<std::string, Route> routes_;
};

std::string Together(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    if (all.size() + text.size() > kMaxDetectedBytes && !all.empty()) break;
    absl::StrAppend(&all, text, "\n");
  }
  return all;
}

std::vector<size_t> Every(const std::vector<std::string>& texts) {
  std::vector<size_t> places(texts.size());
  std::iota(places.begin(), places.end(), size_t{0});
  return places;
}

absl::StatusOr<TextSources> DetectSources(const TranslationRequest& request,
                                          const std::vector<std::string>& texts,
                                          const Services& services) {
  MILLRACE_RETURN_IF_ERROR(CheckDetector());
  // Errors of the model's name are reported before those of the texts.
  std::string model;
  if (!request.model.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(const auto named, RouteFrom(request, "", services));
    model = named.models.front()->info().name;  // a request may write it in another case
  }
  TextSources sources;
  Detection detection(request, model, services);
  for (const std::string& text : texts) sources.detected.push_back(detection.Detect(text));
  const models::DetectedLanguage of_all =
      texts.size() == 1 ? sources.detected.front() : detection.Detect(Together(texts));
  const Detection::Choice all = detection.Choose(of_all);
  if (!request.detect_each) {
    if (!all.route.ok()) return all.route.status();
    sources.read_in.assign(texts.size(), all.read_in);
    sources.untranslated.assign(texts.size(), all.untranslated);
    sources.groups.push_back({*all.route, Every(texts)});
    return sources;
  }
  std::map<std::string, size_t> groups;  // by the language
  for (size_t i = 0; i < texts.size(); ++i) {
    const models::DetectedLanguage& own = sources.detected[i];
    const Detection::Choice choice = own.confidence > kUnsure ? detection.Choose(own) : all;
    if (!choice.route.ok()) return choice.route.status();
    const auto [group, is_new] =
        groups.emplace(choice.route->source_language, sources.groups.size());
    if (is_new) sources.groups.push_back({*choice.route});
    sources.groups[group->second].texts.push_back(i);
    sources.read_in.push_back(choice.read_in);
    sources.untranslated.push_back(choice.untranslated);
  }
  return sources;
}

}  // namespace

absl::Status CheckDetector() {
  if (models::CanDetectLanguages()) return absl::OkStatus();
  return absl::UnimplementedError(
      "source_language: this server was built without a detector of languages; name the language");
}

absl::StatusOr<TextSources> FindSources(const TranslationRequest& request,
                                        const std::vector<std::string>& texts,
                                        const Services& services) {
  if (request.input.source_language == kAutoLanguage)
    return DetectSources(request, texts, services);
  MILLRACE_ASSIGN_OR_RETURN(auto route,
                            RouteFrom(request, request.input.source_language, services));
  TextSources sources;
  sources.groups.push_back({std::move(route), Every(texts)});
  if (request.detect_language) {
    for (const std::string& text : texts) {
      auto candidates = models::DetectLanguages(text, IsHtml(request));
      sources.detected.push_back(candidates.empty() ? models::DetectedLanguage()
                                                    : std::move(candidates.front()));
    }
  }
  return sources;
}

}  // namespace millrace::server
