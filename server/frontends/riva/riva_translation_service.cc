#include "server/frontends/riva/riva_translation_service.h"

#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "riva/nmt.pb.h"
#include "server/frontends/grpc/answer.h"
#include "server/frontends/grpc/call_metadata.h"
#include "server/frontends/grpc/message_codec.h"
#include "server/frontends/grpc/unary_call.h"
#include "server/frontends/riva/dnt_phrases.h"
#include "server/frontends/riva/field_names.h"
#include "server/requests/translation_request.h"
#include "server/requests/whole_translation.h"

namespace millrace::server {
namespace {

using nvidia::riva::nmt::AvailableLanguageRequest;
using nvidia::riva::nmt::AvailableLanguageResponse;
using nvidia::riva::nmt::TranslateTextRequest;
using nvidia::riva::nmt::TranslateTextResponse;

absl::StatusOr<TranslationRequest> ToRequest(TranslateTextRequest message) {
  if (!message.max_len_variation().empty()) {
    return InvalidArgument("max_len_variation: ", Shown(message.max_len_variation()),
                           " is not supported; it must be empty");
  }
  TranslationRequest request;
  request.choose_model = true;
  request.model = std::move(*message.mutable_model());
  models::TranslateInput& input = request.input;
  input.source_language = std::move(*message.mutable_source_language());
  input.target_language = std::move(*message.mutable_target_language());
  for (int i = 0; i < message.dnt_phrases_size(); ++i) {
    MILLRACE_RETURN_IF_ERROR(TakeDntPhrases(StrCat("dnt_phrases[", i, "]"), message.dnt_phrases(i),
                                            input.glossary, input.do_not_translate));
  }
  input.texts.assign(std::make_move_iterator(message.mutable_texts()->begin()),
                     std::make_move_iterator(message.mutable_texts()->end()));
  return request;
}

// Returns the first error of a text that is not empty: no answer has a place for it.
absl::Status ErrorOf(const std::vector<TranslationText>& texts) {
  for (const TranslationText& text : texts) {
    if (!text.status.ok() && text.characters != 0) return text.status;
  }
  return absl::OkStatus();
}

class TranslateTextTask {
 public:
  static constexpr Method kMethod = Method::kRivaTranslateText;

  absl::StatusOr<Work> Decode(const ByteBuffer& buffer, const Services& services) {
    TranslateTextRequest message;
    MILLRACE_RETURN_IF_ERROR(ParseMessage(buffer, message));
    if (message.has_id()) *response_.mutable_id() = message.id();
    MILLRACE_ASSIGN_OR_RETURN(auto request, ToRequest(std::move(message)));
    MILLRACE_ASSIGN_OR_RETURN(auto work, MakeTranslationWork(std::move(request), services));
    MILLRACE_RETURN_IF_ERROR(ErrorOf(work.texts));
    translation_.Start(work);
    return std::move(work.work);
  }

  void Emit(models::Output output, const RequestRun&) {
    translation_.Add(std::get<models::TranslateOutput>(std::move(output)));
  }

  absl::Status End(const absl::Status& status, const RequestRun&, ByteBuffer& reply) {
    if (!status.ok()) return WithRivaFieldName(status);
    for (TranslationResults::Text& result : translation_.Take()) {
      nvidia::riva::nmt::Translation& translation = *response_.add_translations();
      translation.set_text(std::move(result.text));
      translation.set_language(translation_.route().target_language);
    }
    return SerializeMessage(response_, reply);
  }

 private:
  WholeTranslation translation_;  // touched by the call's outputs, of which there is one at a time
  TranslateTextResponse response_;
};

absl::Status ListLanguages(const std::string& model, const ModelDirectory& models,
                           AvailableLanguageResponse& response) {
  for (const auto& served : models.All()) {
    const models::ModelInfo& info = served->info();
    if (info.task() != models::Task::kTranslation || (!model.empty() && model != info.name))
      continue;
    auto& pair = (*response.mutable_languages())[info.name];
    for (const std::string& tag : SourceLanguages(info.translation())) pair.add_src_lang(tag);
    for (const std::string& tag : TargetLanguages(info.translation())) pair.add_tgt_lang(tag);
  }
  if (model.empty() || !response.languages().empty()) return absl::OkStatus();
  return NotFound("model: no translation model ", Shown(model), " is loaded");
}

}  // namespace

RivaTranslationService::RivaTranslationService(Services& services)
    : RpcService("nvidia.riva.nmt.RivaTranslation") {
  Serve("TranslateText", UnaryCall<TranslateTextTask>::Serving(services), kShortTexts);
  Serve("ListSupportedLanguagePairs",
        Answering<AvailableLanguageRequest, AvailableLanguageResponse>(
            [&services](const ByteCall& call, const auto& request, auto& response) {
              MILLRACE_RETURN_IF_ERROR(Authenticate(services.keys, call, Role::kUser));
              return ListLanguages(request.model(), services.models, response);
            }));
}

}  // namespace millrace::server
