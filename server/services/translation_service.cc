#include "server/services/translation_service.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/core/strings.h"
#include "server/services/message_codec.h"
#include "server/services/stream_call.h"
#include "server/services/text_field.h"
#include "server/services/unary_call.h"
#include "server/services/utf8.h"

namespace millrace::server {
namespace {

constexpr int kMaxTexts = 256;
constexpr size_t kMaxCharacters = 100'000;

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

absl::StatusOr<Work> DecodeTranslate(const grpc::ByteBuffer& buffer, Services& services) {
  v1::TranslateRequest request;
  if (absl::Status status = ParseMessage(buffer, request); !status.ok()) return status;
  if (request.texts().empty())
    return absl::InvalidArgumentError("texts: is empty; 1 to 256 are allowed");
  if (request.texts_size() > kMaxTexts) {
    return absl::InvalidArgumentError(StrCat("texts: has ", request.texts_size(),
                                             " entries; at most ", kMaxTexts, " are allowed"));
  }
  size_t characters = 0;
  for (int i = 0; i < request.texts_size(); ++i) {
    if (absl::Status status = CheckText(StrCat("texts[", i, "]"), request.texts(i)); !status.ok())
      return status;
    characters += CountCharacters(request.texts(i));
  }
  if (absl::Status status = CheckTotal("texts", characters, kMaxCharacters); !status.ok())
    return status;
  if (absl::Status status = CheckVersion(request.model(), request.model_version()); !status.ok())
    return status;
  auto model =
      request.model().empty()
          ? services.models.FindTranslator(request.source_language(), request.target_language())
          : services.models.FindForTask(models::Task::kTranslation, request.model(),
                                        request.model_version());
  if (!model.ok()) return model.status();
  const models::ModelInfo& info = (*model)->info();
  absl::Status status =
      CheckLanguage("source_language", request.source_language(), SourceLanguages(info), info.name);
  status.Update(CheckLanguage("target_language", request.target_language(), TargetLanguages(info),
                              info.name));
  if (!status.ok()) return status;
  models::TranslateInput input;
  input.source_language = request.source_language();
  input.target_language = request.target_language();
  input.texts.assign(std::make_move_iterator(request.mutable_texts()->begin()),
                     std::make_move_iterator(request.mutable_texts()->end()));
  return Work{*std::move(model), std::move(input), characters};
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
