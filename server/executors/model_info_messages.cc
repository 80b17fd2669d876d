#include "server/executors/model_info_messages.h"

#include <chrono>
#include <variant>

#include "models/core/errors.h"
#include "server/executors/message_fields.h"

namespace millrace::server {

namespace wire = executor::v1;

namespace {

template <typename Spec, typename Message>
void CopySpec(Spec& spec, Message& message) {
  MILLRACE_COPY(spec, message, name, type, shape);
}

absl::Status CheckTypes(const google::protobuf::RepeatedPtrField<wire::TensorSpec>& specs) {
  for (const wire::TensorSpec& spec : specs)
    MILLRACE_RETURN_IF_ERROR(CheckEnum(spec.type(), models::DataType::kBytes, "type of a tensor"));
  return absl::OkStatus();
}

template <typename Info, typename Message>
void CopyTensors(Info& info, Message& message) {
  MILLRACE_COPY_EACH(info, message, inputs, CopySpec);
  MILLRACE_COPY_EACH(info, message, outputs, CopySpec);
}

template <typename Info, typename Message>
void CopyTranslation(Info& info, Message& message) {
  MILLRACE_COPY(info, message, source_language, target_language, source_languages, target_languages,
                max_hypotheses);
}

template <typename Voice, typename Message>
void CopyLanguageVoice(Voice& voice, Message& message) {
  MILLRACE_COPY(voice, message, language, voice);
}

template <typename Info, typename Message>
void CopySpeech(Info& info, Message& message) {
  MILLRACE_COPY(info, message, voices, language, languages, voice_languages, speech_cost,
                sample_rate, pronunciation_languages, min_speed, max_speed, precision,
                int8_distance_db);
  MILLRACE_COPY_EACH(info, message, default_voices, CopyLanguageVoice);
}

template <typename Info, typename Message>
void CopyModel(Info& info, Message& message) {
  MILLRACE_COPY(info, message, name, version, platform, license);
  MILLRACE_COPY(info.batching, message, max_batch, queue_size, continuous, divided, full_work);
}

void WriteDetails(const models::InferInfo& info, wire::ModelInfo& message) {
  // A task without details is still that task.
  CopyTensors(info, *message.mutable_infer());
}

void WriteDetails(const models::TranslationInfo& info, wire::ModelInfo& message) {
  CopyTranslation(info, *message.mutable_translation());
}

void WriteDetails(const models::SpeechInfo& info, wire::ModelInfo& message) {
  CopySpeech(info, *message.mutable_speech());
}

absl::StatusOr<models::ModelDetails> ReadDetails(const wire::ModelInfo& message) {
  switch (message.details_case()) {
    case wire::ModelInfo::kInfer: {
      MILLRACE_RETURN_IF_ERROR(CheckTypes(message.infer().inputs()));
      MILLRACE_RETURN_IF_ERROR(CheckTypes(message.infer().outputs()));
      models::InferInfo info;
      CopyTensors(info, message.infer());
      return info;
    }
    case wire::ModelInfo::kTranslation: {
      models::TranslationInfo info;
      CopyTranslation(info, message.translation());
      return info;
    }
    case wire::ModelInfo::kSpeech: {
      models::SpeechInfo info;
      CopySpeech(info, message.speech());
      return info;
    }
    case wire::ModelInfo::DETAILS_NOT_SET:
      break;
  }
  return Malformed("a model has no task");
}

}  // namespace

void WriteModelInfo(const models::ModelInfo& info, wire::ModelInfo& message) {
  CopyModel(info, message);
  message.set_linger_us(info.batching.linger.count());
  std::visit([&](const auto& details) { WriteDetails(details, message); }, info.details);
}

absl::StatusOr<models::ModelInfo> ReadModelInfo(const wire::ModelInfo& message) {
  models::ModelInfo info;
  CopyModel(info, message);
  info.batching.linger = std::chrono::microseconds(message.linger_us());
  if (info.batching.max_batch == 0) return Malformed("a model has batches of no request");
  if (message.linger_us() < 0) return Malformed("a model has a negative linger");
  MILLRACE_ASSIGN_OR_RETURN(info.details, ReadDetails(message));
  return info;
}

}  // namespace millrace::server
