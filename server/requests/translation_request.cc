#include "server/requests/translation_request.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/core/too_long.h"
#include "models/text/unicode.h"
#include "server/requests/text_field.h"
#include "server/requests/translation_source.h"
#include "server/requests/translation_terms.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxTexts = 10'000;
constexpr size_t kMaxPrefixCharacters = 1'000;

absl::Status CheckCount(size_t texts) {
  if (texts == 0) return InvalidArgument("texts: is empty; 1 to ", kMaxTexts, " are allowed");
  if (texts <= kMaxTexts) return absl::OkStatus();
  return TooLongError(
      StrCat("texts: has ", texts, " entries; at most ", kMaxTexts, " are allowed"));
}

absl::Status CheckPrefixes(const std::vector<std::string>& prefixes, size_t texts) {
  if (prefixes.empty()) return absl::OkStatus();
  if (prefixes.size() != texts) {
    return InvalidArgument("target_prefixes: has ", prefixes.size(), " entries for ", texts,
                           " texts; none or one for each is allowed");
  }
  for (size_t i = 0; i < prefixes.size(); ++i) {
    if (prefixes[i].empty()) continue;
    const std::string field = StrCat("target_prefixes[", i, "]");
    MILLRACE_RETURN_IF_ERROR(CheckText(field, prefixes[i]));
    if (const size_t count = models::CountCodePoints(prefixes[i]); count > kMaxPrefixCharacters) {
      return InvalidArgument(field, ": has ", count, " characters; at most ", kMaxPrefixCharacters,
                             " are allowed");
    }
  }
  return absl::OkStatus();
}

// A second model that gets fewer sentences at once than it translates together is slower.
constexpr size_t kSentencesTogether = 32;

// Returns the input of the first model of a pivot. Glossary terms become kept spans, so this model
// decides what replaces them.
models::TranslateInput FirstHalf(const models::TranslateInput& input, bool streamed) {
  models::TranslateInput first;
  first.for_pivot = true;
  first.first_soon = streamed;
  first.format = input.format;
  first.glossary = input.glossary;
  first.do_not_translate = input.do_not_translate;
  first.search = input.search;
  first.search.hypotheses.reset();
  first.search.min_target_tokens.reset();
  first.search.max_target_tokens.reset();
  return first;
}

// The texts of a request that can be translated, and the status of each of the others.
struct SortedTexts {
  std::vector<TranslationText> all;
  std::vector<size_t> places;
  std::vector<std::string> texts;
  std::vector<std::string> prefixes;
  size_t characters = 0;  // the characters of those texts
};

SortedTexts Sort(models::TranslateInput& input) {
  SortedTexts sorted;
  for (size_t i = 0; i < input.texts.size(); ++i) {
    TranslationText& text = sorted.all.emplace_back();
    text.characters = models::CountCodePoints(input.texts[i]);
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

// Makes the work for some of the texts; `request` holds no texts.
absl::StatusOr<TranslationWork> MakeWork(TranslationRequest request, SourceGroup group,
                                         SortedTexts& sorted, const Services& services) {
  models::TranslateInput& input = request.input;
  TranslationWork work;
  work.route = std::move(group.route);
  size_t characters = 0;
  for (const size_t i : group.texts) {
    work.places.push_back(sorted.places[i]);
    characters += sorted.all[sorted.places[i]].characters;
    input.texts.push_back(std::move(sorted.texts[i]));
    if (!sorted.prefixes.empty()) input.target_prefixes.push_back(std::move(sorted.prefixes[i]));
  }
  if (work.route.models.empty()) {
    work.unchanged = std::move(input.texts);  // and without alternatives
    return work;
  }
  if (request.preferred_hypotheses) {
    input.search.hypotheses =
        std::clamp(*request.preferred_hypotheses, 1,
                   work.route.models.back()->info().translation().max_hypotheses);
  }
  work.alternatives = static_cast<size_t>(std::max(input.search.hypotheses.value_or(1), 1)) - 1;
  // A source language that the client left open stays open, because the model has a default.
  const bool named = !input.source_language.empty();
  if (!input.target_language.empty()) input.target_language = work.route.target_language;
  if (work.route.models.size() == 1) {
    if (named) input.source_language = work.route.source_language;
    work.work.input = std::move(input);
  } else {
    models::TranslateInput first = FirstHalf(input, request.streamed);
    first.texts = std::move(input.texts);
    input.texts.clear();
    first.source_language = work.route.source_language;
    first.target_language = input.source_language = work.route.pivot_language;
    const size_t texts = first.texts.size();
    work.work.input = std::move(first);
    // Reports what the second model cannot do now rather than when the first one is done.
    models::TranslateInput probe = input;
    probe.texts.assign(1, "a");
    probe.target_prefixes.resize(std::min<size_t>(probe.target_prefixes.size(), 1));
    const auto& second = work.route.models.back();
    MILLRACE_RETURN_IF_ERROR(second->model().Validate(std::move(probe)));
    work.work.pivot = std::make_unique<PivotPipeline>(
        services, PivotPipeline::Models{work.route.models.front(), second},
        PivotSentences(std::move(input), texts), request.streamed ? 1 : kSentencesTogether);
  }
  work.work.model = work.route.models.front();
  work.work.characters = characters;
  return work;
}

// Says of a text in the target language that this is why it is not translated.
void NameTargetLanguage(const TranslationRoute& route, TranslationText& text) {
  if (!route.models.empty() || !text.untranslated.empty()) return;
  text.untranslated = StrCat("source_language: the text is read in '", route.source_language,
                             "', which is the target language; it is returned as it is");
  text.is_in_target_language = true;
}

}  // namespace

absl::StatusOr<std::vector<TranslationWork>> MakeTranslationWorks(TranslationRequest request,
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
  if (status = CheckTotal("texts", sorted.characters, services.max_translate_characters);
      !status.ok())
    return status;
  input.texts.clear();
  input.target_prefixes.clear();
  MILLRACE_ASSIGN_OR_RETURN(auto sources, FindSources(request, sorted.texts, services));
  if (!sources.read_in.empty()) {
    // An empty text has no language of its own, so it gets that of the first text.
    for (TranslationText& text : sorted.all) text.read_in = sources.read_in.front();
  }
  for (size_t i = 0; i < sorted.places.size(); ++i) {
    TranslationText& text = sorted.all[sorted.places[i]];
    if (!sources.read_in.empty()) text.read_in = std::move(sources.read_in[i]);
    if (!sources.untranslated.empty()) text.untranslated = std::move(sources.untranslated[i]);
    if (!sources.detected.empty()) text.detected = std::move(sources.detected[i]);
  }
  std::vector<TranslationWork> works;
  for (SourceGroup& group : sources.groups) {
    for (const size_t i : group.texts)
      NameTargetLanguage(group.route, sorted.all[sorted.places[i]]);
    MILLRACE_ASSIGN_OR_RETURN(auto work, MakeWork(request, std::move(group), sorted, services));
    works.push_back(std::move(work));
  }
  works.front().texts = std::move(sorted.all);
  return works;
}

absl::StatusOr<TranslationWork> MakeTranslationWork(TranslationRequest request,
                                                    const Services& services) {
  request.detect_each = false;
  MILLRACE_ASSIGN_OR_RETURN(auto works, MakeTranslationWorks(std::move(request), services));
  return std::move(works.front());
}

absl::StatusOr<std::vector<std::vector<models::DetectedLanguage>>> DetectLanguagesOf(
    const std::vector<std::string>& texts) {
  absl::Status status = CheckDetector();
  status.Update(CheckCount(texts.size()));
  size_t characters = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    status.Update(CheckText(StrCat("texts[", i, "]"), texts[i]));
    characters += models::CountCodePoints(texts[i]);
  }
  status.Update(CheckTotal("texts", characters, kMaxTranslateCharacters));
  if (!status.ok()) return status;
  std::vector<std::vector<models::DetectedLanguage>> results;
  results.reserve(texts.size());
  for (const std::string& text : texts) results.push_back(models::DetectLanguages(text));
  return results;
}

}  // namespace millrace::server
