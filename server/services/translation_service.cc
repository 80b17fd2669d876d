#include "server/services/translation_service.h"

#include <utility>
#include <variant>

#include "models/core/strings.h"
#include "server/services/message_codec.h"
#include "server/services/stream_call.h"
#include "server/services/translation_messages.h"
#include "server/services/unary_call.h"

namespace millrace::server {
namespace {

absl::StatusOr<Work> DecodeTranslate(const grpc::ByteBuffer& buffer, Services& services) {
  v1::TranslateRequest message;
  if (absl::Status status = ParseMessage(buffer, message); !status.ok()) return status;
  auto request = ToTranslationRequest(std::move(message));
  if (!request.ok()) return request.status();
  return MakeTranslationWork(*std::move(request), services);
}

void CountTokens(ModelMetrics& metrics, const models::TranslateOutput& part) {
  metrics.source_tokens.Increment(static_cast<double>(part.source_tokens));
  metrics.target_tokens.Increment(static_cast<double>(part.target_tokens));
}

class TranslateCall final : public UnaryCall {
 public:
  TranslateCall(Services& services, grpc::CallbackServerContext& rpc,
                const grpc::ByteBuffer& request, grpc::ByteBuffer& response)
      : UnaryCall(services, rpc, Method::kTranslate, request, response) {}

  void Emit(models::Output output) override {
    const auto& part = std::get<models::TranslateOutput>(output);
    CountTokens(metrics(), part);
    while (static_cast<size_t>(response_.translations_size()) <= part.text_index)
      response_.add_translations();
    v1::Translation& translation =
        *response_.mutable_translations(static_cast<int>(part.text_index));
    translation.mutable_text()->append(part.text);
    translation.set_source_tokens(translation.source_tokens() + part.source_tokens);
    translation.set_target_tokens(translation.target_tokens() + part.target_tokens);
  }

 private:
  absl::StatusOr<Work> Decode() override { return DecodeTranslate(request(), services()); }

  absl::Status Encode(grpc::ByteBuffer& buffer) override {
    response_.set_model(model()->info().name);
    response_.set_model_version(StrCat(model()->info().version));
    return SerializeMessage(response_, buffer);
  }

  v1::TranslateResponse response_;  // collects the parts; one worker at a time
};

class StreamTranslateCall final : public StreamCall {
 public:
  StreamTranslateCall(Services& services, grpc::CallbackServerContext& rpc,
                      const grpc::ByteBuffer& request)
      : StreamCall(services, rpc, Method::kStreamTranslate, request) {}

  void Emit(models::Output output) override {
    auto part = std::get<models::TranslateOutput>(std::move(output));
    CountTokens(metrics(), part);
    v1::StreamTranslateResponse message;
    message.set_text_index(static_cast<uint32_t>(part.text_index));
    message.set_text(std::move(part.text));
    message.set_text_finished(part.text_finished);
    message.set_source_tokens(part.source_tokens);
    message.set_target_tokens(part.target_tokens);
    message.set_sentence_finished(part.sentence_finished);
    Send(message);
  }

 private:
  absl::StatusOr<Work> Decode() override { return DecodeTranslate(request(), services()); }
};

}  // namespace

grpc::ServerUnaryReactor* TranslationService::Translate(grpc::CallbackServerContext* rpc,
                                                        const grpc::ByteBuffer* request,
                                                        grpc::ByteBuffer* response) {
  auto* call = new TranslateCall(services_, *rpc, *request, *response);
  call->Start();
  return call;
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* TranslationService::StreamTranslate(
    grpc::CallbackServerContext* rpc, const grpc::ByteBuffer* request) {
  auto* call = new StreamTranslateCall(services_, *rpc, *request);
  call->Start();
  return call;
}

}  // namespace millrace::server
