#include "server/services/translation_request.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/core/strings.h"
#include "server/services/text_field.h"
#include "server/services/translation_terms.h"
#include "server/services/utf8.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxTexts = 10'000;
constexpr size_t kMaxPrefixCharacters = 1'000;
// Of a request's texts together, for their language.
constexpr size_t kMaxDetectedBytes = 32 << 10;

absl::Status CheckLanguage(std::string_view field, const std::string& asked,
                           const std::vector<std::string>& have, const std::string& model) {
  constexpr size_t kMaxShown = 32;
  if (asked.empty() || models::HasLanguage(have, asked)) return absl::OkStatus();
  std::string allowed;
  for (size_t i = 0; i < std::min(have.size(), kMaxShown); ++i)
    absl::StrAppend(&allowed, i == 0 ? "'" : ", '", have[i], "'");
  if (have.size() > kMaxShown)
    absl::StrAppend(&allowed, " and ", have.size() - kMaxShown, " more, which the model list has");
  return absl::InvalidArgumentError(StrCat(field, ": '", asked.substr(0, 64),
                                           "' is not what model '", model, "' has: ", allowed));
}

absl::Status CheckCount(size_t texts) {
  if (texts == 0)
    return absl::InvalidArgumentError(StrCat("texts: is empty; 1 to ", kMaxTexts, " are allowed"));
  if (texts <= kMaxTexts) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("texts: has ", texts, " entries; at most ", kMaxTexts, " are allowed"));
}

absl::Status CheckPrefixes(const std::vector<std::string>& prefixes, size_t texts) {
  if (prefixes.empty()) return absl::OkStatus();
  if (prefixes.size() != texts) {
    return absl::InvalidArgumentError(StrCat("target_prefixes: has ", prefixes.size(),
                                             " entries for ", texts,
                                             " texts; none or one for each is allowed"));
  }
  for (size_t i = 0; i < prefixes.size(); ++i) {
    if (prefixes[i].empty()) continue;
    const std::string field = StrCat("target_prefixes[", i, "]");
    if (absl::Status status = CheckText(field, prefixes[i]); !status.ok()) return status;
    if (const size_t count = CountCharacters(prefixes[i]); count > kMaxPrefixCharacters) {
      return absl::InvalidArgumentError(StrCat(field, ": has ", count, " characters; at most ",
                                               kMaxPrefixCharacters, " are allowed"));
    }
  }
  return absl::OkStatus();
}

bool IsHtml(const models::TranslateInput& input) {
  return input.format == models::TextFormat::kHtml;
}

absl::Status CheckDetector() {
  if (models::CanDetectLanguages()) return absl::OkStatus();
  return absl::UnimplementedError(
      "source_language: this server was built without a detector of languages; name the language");
}

// The route of a model that was named.
absl::StatusOr<TranslationRoute> RouteOf(std::shared_ptr<ServedModel> model,
                                         const std::string& source, const std::string& target) {
  const models::ModelInfo& info = model->info();
  absl::Status status = CheckLanguage("source_language", source, SourceLanguages(info), info.name);
  status.Update(CheckLanguage("target_language", target, TargetLanguages(info), info.name));
  if (!status.ok()) return status;
  return TranslationRoute{source.empty() ? info.source_language : source,
                          target.empty() ? info.target_language : target,
                          {},
                          {std::move(model)}};
}

absl::StatusOr<TranslationRoute> RouteFrom(const TranslationRequest& request,
                                           const std::string& source, const Services& services) {
  const std::string& target = request.input.target_language;
  if (request.model.empty())
    return FindRoute(services.models, source, target, request.choose_model);
  auto model =
      services.models.FindForTask(models::Task::kTranslation, request.model, request.model_version);
  if (!model.ok()) return model.status();
  return RouteOf(*std::move(model), source, target);
}

// The languages that may be meant when one is detected.
std::vector<std::string> LanguagesOf(const TranslationRequest& request, const Services& services) {
  std::vector<std::string> languages;
  for (const auto& model : services.models.All()) {
    const models::ModelInfo& info = model->info();
    if (info.task != models::Task::kTranslation) continue;
    if (!request.model.empty() && request.model != info.name) continue;
    for (const std::string& language : SourceLanguages(info)) languages.push_back(language);
  }
  // A text may be in the language that is asked for already.
  if (request.model.empty()) languages.push_back(request.input.target_language);
  return languages;
}

// The route from the language that the texts are in.
absl::StatusOr<TranslationRoute> DetectedRoute(const TranslationRequest& request,
                                               const Services& services) {
  if (absl::Status status = CheckDetector(); !status.ok()) return status;
  // What is wrong with the model's name is not the texts' fault.
  if (!request.model.empty()) {
    if (auto named = RouteFrom(request, "", services); !named.ok()) return named;
  }
  std::string all;
  for (const std::string& text : request.input.texts) {
    if (all.size() + text.size() > kMaxDetectedBytes && !all.empty()) break;
    absl::StrAppend(&all, text, "\n");
  }
  const std::vector<std::string> languages = LanguagesOf(request, services);
  const auto candidates = models::DetectLanguages(all, IsHtml(request.input));
  for (const models::DetectedLanguage& candidate : candidates) {
    const std::string language = LanguageMeant(languages, candidate.language);
    if (language.empty()) continue;
    auto route = RouteFrom(request, language, services);
    if (route.ok() || !absl::IsNotFound(route.status())) return route;
  }
  if (!request.fallback_language.empty())
    return RouteFrom(request, request.fallback_language, services);
  if (candidates.empty()) {
    return absl::InvalidArgumentError(
        "source_language: 'auto' cannot tell the language of the texts; name it");
  }
  return absl::InvalidArgumentError(StrCat(
      "source_language: 'auto' takes the texts for '", candidates.front().language,
      "', which no model that could be meant translates; name the language or load a model"));
}

// What the model before a pivot is to do: terms stay as they are for the one behind it.
models::TranslateInput FirstHalf(const models::TranslateInput& input) {
  models::TranslateInput first;
  first.format = input.format;
  first.do_not_translate = input.do_not_translate;
  for (const models::GlossaryEntry& entry : input.glossary)
    first.do_not_translate.push_back(entry.source);
  first.search = input.search;
  first.search.hypotheses.reset();
  first.search.min_target_tokens.reset();
  first.search.max_target_tokens.reset();
  return first;
}

// Takes the texts that can be translated out of the request, and says what is wrong with others.
struct SortedTexts {
  std::vector<TranslationText> all;
  std::vector<size_t> places;
  std::vector<std::string> texts;
  std::vector<std::string> prefixes;
  size_t characters = 0;  // of those texts
};

SortedTexts Sort(models::TranslateInput& input) {
  SortedTexts sorted;
  for (size_t i = 0; i < input.texts.size(); ++i) {
    TranslationText& text = sorted.all.emplace_back();
    text.characters = CountCharacters(input.texts[i]);
    text.status = CheckText(StrCat("texts[", i, "]"), input.texts[i]);
    if (!text.status.ok()) continue;
    sorted.places.push_back(i);
    sorted.characters += text.characters;
    sorted.texts.push_back(std::move(input.texts[i]));
    if (!input.target_prefixes.empty())
      sorted.prefixes.push_back(std::move(input.target_prefixes[i]));
  }
  return sorted;
}

}  // namespace

absl::StatusOr<TranslationWork> MakeTranslationWork(TranslationRequest request,
                                                    const Services& services) {
  models::TranslateInput& input = request.input;
  absl::Status status = CheckCount(input.texts.size());
  status.Update(CheckPrefixes(input.target_prefixes, input.texts.size()));
  status.Update(CheckTerms(input.glossary, input.do_not_translate));
  status.Update(CheckVersion(request.model, request.model_version));
  if (request.detect_language) status.Update(CheckDetector());
  if (!status.ok()) return status;
  SortedTexts sorted = Sort(input);
  if (sorted.texts.empty()) return sorted.all.front().status;
  if (status = CheckTotal("texts", sorted.characters, kMaxTranslateCharacters); !status.ok())
    return status;
  input.texts = std::move(sorted.texts);
  input.target_prefixes = std::move(sorted.prefixes);
  const bool detects = input.source_language == kAutoLanguage;
  auto route = detects ? DetectedRoute(request, services)
                       : RouteFrom(request, input.source_language, services);
  if (!route.ok()) return route.status();
  if (detects || request.detect_language) {
    for (size_t i = 0; i < sorted.places.size(); ++i) {
      auto found = models::DetectLanguages(input.texts[i], IsHtml(input));
      if (found.empty()) found.emplace_back();
      sorted.all[sorted.places[i]].detected = std::move(found.front());
    }
  }
  TranslationWork work;
  work.route = *std::move(route);
  work.texts = std::move(sorted.all);
  work.places = std::move(sorted.places);
  if (request.preferred_hypotheses && !work.route.models.empty()) {
    input.search.hypotheses = std::clamp(*request.preferred_hypotheses, 1,
                                         work.route.models.back()->info().max_hypotheses);
  }
  if (work.route.models.empty()) {
    work.unchanged = std::move(input.texts);  // and without alternatives
    return work;
  }
  work.alternatives = static_cast<size_t>(std::max(input.search.hypotheses.value_or(1), 1)) - 1;
  const bool named = !input.source_language.empty();
  if (work.route.models.size() == 1) {
    // Left open, they stay open: the model has its own.
    if (named) input.source_language = work.route.source_language;
    work.work.input = std::move(input);
  } else {
    models::TranslateInput first = FirstHalf(input);
    first.texts = std::move(input.texts);
    input.texts.clear();
    first.source_language = work.route.source_language;
    first.target_language = input.source_language = work.route.pivot_language;
    work.work.input = std::move(first);
    work.work.next_model = work.route.models.back();
    // What the second model cannot do is told now, not when the first one is done.
    models::TranslateInput probe = input;
    probe.texts.assign(1, "a");
    probe.target_prefixes.resize(std::min<size_t>(probe.target_prefixes.size(), 1));
    if (status = work.work.next_model->model().Validate(std::move(probe)); !status.ok())
      return status;
    work.second = std::move(input);
  }
  work.work.model = work.route.models.front();
  work.work.characters = sorted.characters;
  return work;
}

absl::StatusOr<std::vector<std::vector<models::DetectedLanguage>>> DetectLanguagesOf(
    const std::vector<std::string>& texts) {
  absl::Status status = CheckDetector();
  status.Update(CheckCount(texts.size()));
  size_t characters = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    status.Update(CheckText(StrCat("texts[", i, "]"), texts[i]));
    characters += CountCharacters(texts[i]);
  }
  status.Update(CheckTotal("texts", characters, kMaxTranslateCharacters));
  if (!status.ok()) return status;
  std::vector<std::vector<models::DetectedLanguage>> results;
  for (const std::string& text : texts) results.push_back(models::DetectLanguages(text));
  return results;
}

}  // namespace millrace::server
