#include "server/frontends/millrace/translation_messages.h"

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "models/core/language_names.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"

namespace millrace::server {
namespace {

absl::StatusOr<models::TextFormat> ToFormat(v1::TextFormat format) {
  switch (format) {
    case v1::TEXT_FORMAT_UNSPECIFIED:
      return models::TextFormat::kText;
    case v1::TEXT_FORMAT_HTML:
      return models::TextFormat::kHtml;
    case v1::TEXT_FORMAT_MARKDOWN:
      return models::TextFormat::kMarkdown;
    default:
      return InvalidArgument("format: ", static_cast<int>(format),
                             " is none of HTML (1), MARKDOWN (2)");
  }
}

std::vector<std::string> Take(google::protobuf::RepeatedPtrField<std::string>& strings) {
  return {std::make_move_iterator(strings.begin()), std::make_move_iterator(strings.end())};
}

models::SearchOverrides ToSearch(const v1::TranslateSearch& message) {
  models::SearchOverrides search;
  if (message.has_beam_size()) search.beam_size = message.beam_size();
  if (message.has_hypotheses()) search.hypotheses = message.hypotheses();
  if (message.has_length_penalty()) search.length_penalty = message.length_penalty();
  if (message.has_no_repeat_ngram_size())
    search.no_repeat_ngram_size = message.no_repeat_ngram_size();
  if (message.has_repetition_penalty()) search.repetition_penalty = message.repetition_penalty();
  if (message.has_min_target_tokens()) search.min_target_tokens = message.min_target_tokens();
  if (message.has_max_target_tokens()) search.max_target_tokens = message.max_target_tokens();
  if (message.has_sampling()) {
    const v1::TranslateSampling& sampling = message.sampling();
    auto& wanted = search.sampling.emplace();
    if (sampling.has_temperature()) wanted.temperature = sampling.temperature();
    if (sampling.has_top_p()) wanted.top_p = sampling.top_p();
    wanted.top_k = sampling.top_k();
    wanted.seed = sampling.seed();
  }
  return search;
}

}  // namespace

absl::StatusOr<TranslationRequest> ToTranslationRequest(v1::TranslateRequest message) {
  MILLRACE_ASSIGN_OR_RETURN(const auto format, ToFormat(message.format()));
  TranslationRequest request;
  request.model = std::move(*message.mutable_model());
  request.model_version = std::move(*message.mutable_model_version());
  models::TranslateInput& input = request.input;
  input.source_language = std::move(*message.mutable_source_language());
  input.target_language = std::move(*message.mutable_target_language());
  input.texts = Take(*message.mutable_texts());
  input.search = ToSearch(message.search());
  input.target_prefixes = Take(*message.mutable_target_prefixes());
  input.format = format;
  for (v1::GlossaryEntry& entry : *message.mutable_glossary())
    input.glossary.push_back(
        {std::move(*entry.mutable_source()), std::move(*entry.mutable_target())});
  input.do_not_translate = Take(*message.mutable_do_not_translate());
  input.partial = message.partial();
  request.detect_language = message.detect_language();
  return request;
}

v1::TranslationRoute ToMessage(const TranslationRoute& route) {
  v1::TranslationRoute message;
  message.set_source_language(route.source_language);
  message.set_target_language(route.target_language);
  message.set_pivot_language(route.pivot_language);
  for (const auto& model : route.models) message.add_models(model->info().name);
  return message;
}

v1::TextStatus ToMessage(const absl::Status& status) {
  v1::TextStatus message;
  message.set_code(static_cast<int32_t>(status.code()));
  message.set_message(std::string(Message(status)));
  return message;
}

absl::Status StatusOf(const TranslationText& text) {
  if (!text.status.ok() || text.untranslated.empty() || text.is_in_target_language)
    return text.status;
  return FailedPrecondition(text.untranslated);
}

v1::DetectedLanguage ToMessage(models::DetectedLanguage detected) {
  v1::DetectedLanguage message;
  message.set_language(std::move(detected.language));
  message.set_confidence(detected.confidence);
  return message;
}

Alternatives ToMessages(std::vector<models::TranslationAlternative> alternatives) {
  Alternatives messages;
  for (models::TranslationAlternative& alternative : alternatives) {
    v1::Alternative& message = *messages.Add();
    message.set_text(std::move(alternative.text));
    message.set_score(alternative.score);
  }
  return messages;
}

v1::Translation ToMessage(TranslationResults::Text result, const TranslationText& text) {
  v1::Translation message;
  *message.mutable_status() = ToMessage(StatusOf(text));
  message.set_source_characters(static_cast<int64_t>(text.characters));
  message.set_target_characters(static_cast<int64_t>(models::CountCodePoints(result.text)));
  message.set_text(std::move(result.text));
  message.set_source_tokens(result.source_tokens);
  message.set_target_tokens(result.target_tokens);
  message.set_score(result.score);
  *message.mutable_alternatives() = ToMessages(std::move(result.alternatives));
  if (text.detected) *message.mutable_detected_language() = ToMessage(*text.detected);
  for (std::string& part : result.lost) message.add_lost(std::move(part));
  return message;
}

v1::ListLanguagesResponse ToMessage(const std::vector<TranslationRoute>& routes) {
  v1::ListLanguagesResponse response;
  for (const TranslationRoute& route : routes) {
    const int known = response.languages_size();
    if (known == 0 || response.languages(known - 1).language() != route.source_language) {
      v1::SourceLanguage& source = *response.add_languages();
      source.set_language(route.source_language);
      source.set_name(models::LanguageName(route.source_language));
    }
    v1::TargetLanguage& target = *response.mutable_languages()->rbegin()->add_targets();
    target.set_language(route.target_language);
    target.set_name(models::LanguageName(route.target_language));
    target.set_pivot_language(route.pivot_language);
    for (const auto& model : route.models) target.add_models(model->info().name);
  }
  return response;
}

}  // namespace millrace::server
