#include "server/frontends/millrace/translation_service.h"

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/frontends/grpc/answer.h"
#include "server/frontends/grpc/call_metadata.h"
#include "server/frontends/grpc/message_codec.h"
#include "server/frontends/grpc/stream_call.h"
#include "server/frontends/grpc/unary_call.h"
#include "server/frontends/millrace/translation_messages.h"
#include "server/requests/translation_progress.h"
#include "server/requests/translation_results.h"
#include "server/requests/whole_translation.h"

namespace millrace::server {
namespace {

absl::StatusOr<TranslationWork> DecodeTranslate(const ByteBuffer& buffer, bool streamed,
                                                const Services& services) {
  v1::TranslateRequest message;
  MILLRACE_RETURN_IF_ERROR(ParseMessage(buffer, message));
  MILLRACE_ASSIGN_OR_RETURN(auto request, ToTranslationRequest(std::move(message)));
  request.streamed = streamed;
  return MakeTranslationWork(std::move(request), services);
}

class TranslateTask {
 public:
  static constexpr Method kMethod = Method::kTranslate;

  absl::StatusOr<Work> Decode(const ByteBuffer& message, const Services& services) {
    MILLRACE_ASSIGN_OR_RETURN(auto work, DecodeTranslate(message, /*streamed=*/false, services));
    translation_.Start(work);
    return std::move(work.work);
  }

  void Emit(models::Output output, const RequestRun&) {
    translation_.Add(std::get<models::TranslateOutput>(std::move(output)));
  }

  absl::Status End(const absl::Status& status, const RequestRun&, ByteBuffer& reply) {
    if (!status.ok()) return status;
    const TranslationRoute& route = translation_.route();
    v1::TranslateResponse response;
    *response.mutable_route() = ToMessage(route);
    if (!route.models.empty()) {
      const models::ModelInfo& info = route.models.back()->info();
      response.set_model(info.name);
      response.set_model_version(StrCat(info.version));
    }
    std::vector<TranslationResults::Text> results = translation_.Take();
    for (size_t i = 0; i < results.size(); ++i)
      *response.add_translations() = ToMessage(std::move(results[i]), translation_.texts()[i]);
    return SerializeMessage(response, reply);
  }

 private:
  WholeTranslation translation_;  // touched by the call's outputs, of which there is one at a time
};

class StreamTranslateTask {
 public:
  static constexpr Method kMethod = Method::kStreamTranslate;

  absl::StatusOr<Work> Decode(const ByteBuffer& message, const Services& services) {
    MILLRACE_ASSIGN_OR_RETURN(auto work, DecodeTranslate(message, /*streamed=*/true, services));
    places_ = work.places;
    unchanged_ = std::move(work.unchanged);
    progress_.Start(work);
    begun_.resize(progress_.texts().size());
    return std::move(work.work);
  }

  void Emit(models::Output output, const RequestRun&, ReplyStream& stream) {
    SendPart(progress_.Take(std::get<models::TranslateOutput>(std::move(output))), stream);
  }

  absl::Status End(const absl::Status& status, ReplyStream& stream) {
    if (!status.ok()) return status;
    for (size_t i = 0; i < unchanged_.size(); ++i) {
      SendPart({.text_index = places_[i], .text = std::move(unchanged_[i]), .text_finished = true},
               stream);
    }
    SendBadTexts(stream);
    return status;
  }

 private:
  void SendPart(models::TranslateOutput part, ReplyStream& stream) {
    SendBadTexts(stream);
    v1::StreamTranslateResponse message;
    message.set_text_index(static_cast<uint32_t>(part.text_index));
    message.set_text(std::move(part.text));
    message.set_text_finished(part.text_finished);
    message.set_sentence_finished(part.sentence_finished);
    message.set_source_tokens(part.source_tokens);
    message.set_target_tokens(part.target_tokens);
    message.set_score(part.score);
    *message.mutable_alternatives() = ToMessages(std::move(part.alternatives));
    for (std::string& lost : part.lost) message.add_lost(std::move(lost));
    const TranslationText& text = progress_.texts()[part.text_index];
    if (!begun_[part.text_index] && text.detected)
      *message.mutable_detected_language() = ToMessage(*text.detected);
    if (!text.untranslated.empty()) *message.mutable_status() = ToMessage(StatusOf(text));
    begun_[part.text_index] = true;
    SendMessage(message, stream);
  }

  // This follows the beginning of the work: a call that is refused sends nothing else.
  void SendBadTexts(ReplyStream& stream) {
    if (std::exchange(bad_texts_sent_, true)) return;
    for (size_t i = 0; i < progress_.texts().size(); ++i) {
      const absl::Status& status = progress_.texts()[i].status;
      if (status.ok()) continue;
      v1::StreamTranslateResponse message;
      message.set_text_index(static_cast<uint32_t>(i));
      message.set_text_finished(true);
      message.set_sentence_finished(true);
      *message.mutable_status() = ToMessage(status);
      SendMessage(message, stream);
    }
  }

  void SendMessage(v1::StreamTranslateResponse& message, ReplyStream& stream) {
    if (!std::exchange(route_sent_, true)) *message.mutable_route() = ToMessage(progress_.route());
    stream.Send(message);
  }

  // Touched by the call's outputs, of which there is one at a time.
  TranslationProgress progress_;
  std::vector<size_t> places_;  // the places of unchanged_
  std::vector<std::string> unchanged_;
  std::vector<bool> begun_;  // one for each of the request's texts: something of it was sent
  bool bad_texts_sent_ = false;
  bool route_sent_ = false;
};

absl::StatusOr<ByteBuffer> ListedLanguages(const ModelDirectory& models) {
  ByteBuffer buffer;
  MILLRACE_RETURN_IF_ERROR(SerializeMessage(ToMessage(AllRoutes(models)), buffer));
  return buffer;
}

}  // namespace

TranslationService::TranslationService(Services& services)
    : RpcService("millrace.v1.TranslationService"),
      services_(services),
      languages_(services.models, ListedLanguages) {
  Serve("Translate", UnaryCall<TranslateTask>::Serving(services), kShortTexts);
  Serve("StreamTranslate", StreamCall<StreamTranslateTask>::Serving(services), kShortTexts);
  // Many languages may have to be combined, or many texts examined.
  ServeSlowly("ListLanguages", [this](ByteCall& call) { ListLanguages(call); });
  ServeSlowly("DetectLanguage",
              Answering(services.keys, Role::kUser, *this, &TranslationService::DetectLanguage));
}

void TranslationService::ListLanguages(ByteCall& call) {
  absl::Status status = Authenticate(services_.keys, call, Role::kUser);
  v1::ListLanguagesRequest request;
  if (status.ok()) status = ParseMessage(call.request(), request);
  if (!status.ok()) return Answer(call, status, ByteBuffer());
  const auto languages = languages_.Get();
  Answer(call, languages->status(), languages->ok() ? **languages : ByteBuffer());
}

absl::Status TranslationService::DetectLanguage(const v1::DetectLanguageRequest& request,
                                                v1::DetectLanguageResponse& response) const {
  MILLRACE_ASSIGN_OR_RETURN(auto detected,
                            DetectLanguagesOf({request.texts().begin(), request.texts().end()}));
  for (std::vector<models::DetectedLanguage>& candidates : detected) {
    v1::LanguageCandidates& result = *response.add_results();
    for (models::DetectedLanguage& candidate : candidates)
      *result.add_candidates() = ToMessage(std::move(candidate));
  }
  return absl::OkStatus();
}

}  // namespace millrace::server
