#include "server/services/translation_messages.h"

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "models/core/strings.h"

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
      return absl::InvalidArgumentError(
          StrCat("format: ", static_cast<int>(format), " is not a format that is known"));
  }
}

std::vector<std::string> Take(google::protobuf::RepeatedPtrField<std::string>& strings) {
  return {std::make_move_iterator(strings.begin()), std::make_move_iterator(strings.end())};
}

}  // namespace

absl::StatusOr<TranslationRequest> ToTranslationRequest(v1::TranslateRequest message) {
  const auto format = ToFormat(message.format());
  if (!format.ok()) return format.status();
  TranslationRequest request;
  request.model = std::move(*message.mutable_model());
  request.model_version = std::move(*message.mutable_model_version());
  models::TranslateInput& input = request.input;
  input.source_language = std::move(*message.mutable_source_language());
  input.target_language = std::move(*message.mutable_target_language());
  input.texts = Take(*message.mutable_texts());
  input.format = *format;
  for (v1::GlossaryEntry& entry : *message.mutable_glossary())
    input.glossary.push_back(
        {std::move(*entry.mutable_source()), std::move(*entry.mutable_target())});
  input.do_not_translate = Take(*message.mutable_do_not_translate());
  input.partial = message.partial();
  return request;
}

}  // namespace millrace::server
