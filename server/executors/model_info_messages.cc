#include "server/executors/model_info_messages.h"

#include <chrono>
#include <utility>
#include <variant>
#include <vector>

#include "models/core/errors.h"
#include "server/executors/message_fields.h"

namespace millrace::server {

namespace wire = executor::v1;

namespace {

void WriteSpecs(const std::vector<models::TensorSpec>& specs,
                google::protobuf::RepeatedPtrField<wire::TensorSpec>& to) {
  for (const models::TensorSpec& spec : specs) {
    wire::TensorSpec& message = *to.Add();
    message.set_name(spec.name);
    message.set_type(static_cast<uint32_t>(spec.type));
    AddAll(spec.shape, message.mutable_shape());
  }
}

absl::StatusOr<std::vector<models::TensorSpec>> ReadSpecs(
    const google::protobuf::RepeatedPtrField<wire::TensorSpec>& messages) {
  std::vector<models::TensorSpec> specs;
  for (const wire::TensorSpec& message : messages) {
    MILLRACE_ASSIGN_OR_RETURN(
        const auto type, ReadEnum(message.type(), models::DataType::kBytes, "type of a tensor"));
    specs.push_back({message.name(), type, {message.shape().begin(), message.shape().end()}});
  }
  return specs;
}

void WriteDetails(const models::InferInfo& info, wire::ModelInfo& message) {
  WriteSpecs(info.inputs, *message.mutable_infer()->mutable_inputs());
  WriteSpecs(info.outputs, *message.mutable_infer()->mutable_outputs());
}

void WriteDetails(const models::TranslationInfo& info, wire::ModelInfo& message) {
  wire::ModelInfo::Translation& to = *message.mutable_translation();
  to.set_source_language(info.source_language);
  to.set_target_language(info.target_language);
  AddAll(info.source_languages, to.mutable_source_languages());
  AddAll(info.target_languages, to.mutable_target_languages());
  to.set_max_hypotheses(info.max_hypotheses);
}

void WriteDetails(const models::SpeechInfo& info, wire::ModelInfo& message) {
  wire::ModelInfo::Speech& to = *message.mutable_speech();
  AddAll(info.voices, to.mutable_voices());
  to.set_language(info.language);
  AddAll(info.languages, to.mutable_languages());
  AddAll(info.voice_languages, to.mutable_voice_languages());
  for (const models::LanguageVoice& voice : info.default_voices) {
    wire::ModelInfo::LanguageVoice& with = *to.add_default_voices();
    with.set_language(voice.language);
    with.set_voice(voice.voice);
  }
  to.set_speech_cost(info.speech_cost);
  to.set_sample_rate(info.sample_rate);
  AddAll(info.pronunciation_languages, to.mutable_pronunciation_languages());
  to.set_min_speed(info.min_speed);
  to.set_max_speed(info.max_speed);
  to.set_precision(info.precision);
  to.set_int8_distance_db(info.int8_distance_db);
}

absl::StatusOr<models::ModelDetails> ReadDetails(const wire::ModelInfo& message) {
  switch (message.details_case()) {
    case wire::ModelInfo::kInfer: {
      MILLRACE_ASSIGN_OR_RETURN(auto inputs, ReadSpecs(message.infer().inputs()));
      MILLRACE_ASSIGN_OR_RETURN(auto outputs, ReadSpecs(message.infer().outputs()));
      return models::InferInfo{std::move(inputs), std::move(outputs)};
    }
    case wire::ModelInfo::kTranslation: {
      const wire::ModelInfo::Translation& from = message.translation();
      return models::TranslationInfo{.source_language = from.source_language(),
                                     .target_language = from.target_language(),
                                     .source_languages = ToVector(from.source_languages()),
                                     .target_languages = ToVector(from.target_languages()),
                                     .max_hypotheses = from.max_hypotheses()};
    }
    case wire::ModelInfo::kSpeech: {
      const wire::ModelInfo::Speech& from = message.speech();
      models::SpeechInfo info{.voices = ToVector(from.voices()),
                              .language = from.language(),
                              .languages = ToVector(from.languages()),
                              .voice_languages = ToVector(from.voice_languages()),
                              .speech_cost = from.speech_cost(),
                              .sample_rate = from.sample_rate(),
                              .pronunciation_languages = ToVector(from.pronunciation_languages()),
                              .min_speed = from.min_speed(),
                              .max_speed = from.max_speed(),
                              .precision = from.precision(),
                              .int8_distance_db = from.int8_distance_db()};
      for (const wire::ModelInfo::LanguageVoice& voice : from.default_voices())
        info.default_voices.push_back({voice.language(), voice.voice()});
      return info;
    }
    case wire::ModelInfo::DETAILS_NOT_SET:
      break;
  }
  return Malformed("a model has no task");
}

}  // namespace

void WriteModelInfo(const models::ModelInfo& info, wire::ModelInfo& message) {
  message.set_name(info.name);
  message.set_version(info.version);
  message.set_platform(info.platform);
  message.set_license(info.license);
  message.set_max_batch(info.batching.max_batch);
  message.set_linger_us(info.batching.linger.count());
  message.set_queue_size(info.batching.queue_size);
  message.set_continuous(info.batching.continuous);
  message.set_divided(info.batching.divided);
  message.set_full_work(info.batching.full_work);
  // A task without details is still that task.
  if (info.task() == models::Task::kInfer) message.mutable_infer();
  std::visit([&](const auto& details) { WriteDetails(details, message); }, info.details);
}

absl::StatusOr<models::ModelInfo> ReadModelInfo(const wire::ModelInfo& message) {
  MILLRACE_ASSIGN_OR_RETURN(auto details, ReadDetails(message));
  if (message.max_batch() == 0) return Malformed("a model has batches of no request");
  if (message.linger_us() < 0) return Malformed("a model has a negative linger");
  models::ModelInfo info;
  info.name = message.name();
  info.version = message.version();
  info.platform = message.platform();
  info.license = message.license();
  info.batching = {.max_batch = message.max_batch(),
                   .linger = std::chrono::microseconds(message.linger_us()),
                   .queue_size = message.queue_size(),
                   .continuous = message.continuous(),
                   .divided = message.divided(),
                   .full_work = message.full_work()};
  info.details = std::move(details);
  return info;
}

}  // namespace millrace::server
