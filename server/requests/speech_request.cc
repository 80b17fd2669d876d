#include "server/requests/speech_request.h"

#include <string_view>
#include <utility>

#include "models/core/errors.h"
#include "models/core/language_tag.h"
#include "models/core/shown.h"
#include "models/core/speech_choice.h"
#include "models/speech/markup/ssml.h"
#include "models/speech/markup/tagged_text.h"
#include "models/text/unicode.h"
#include "server/requests/speech_names.h"
#include "server/requests/text_field.h"

namespace millrace::server {
namespace {

// A negative number means "the voice's own" in the native input, so a client must not pass one.
absl::Status TakePositive(std::string_view field, std::optional<float> value, int most,
                          float& out) {
  if (!value) return absl::OkStatus();
  out = *value;
  if (*value >= 0) return absl::OkStatus();
  return InvalidArgument(field, ": is ", *value, "; 0 to ", most, " are allowed");
}

absl::StatusOr<speech::MarkedText> ParseMarkup(const SpeechRequest& request,
                                               const speech::MarkupContext& context) {
  const SpeechTextFormat format = request.text_format;
  if (format == SpeechTextFormat::kSsml) return speech::ParseSsml(request.text, context);
  return format == SpeechTextFormat::kSsmlFragment
             ? speech::ParseSsmlFragment(request.text, context)
             : speech::ParseTaggedText(request.text, context);
}

// Takes the text of a request, and what its markup says of it and of what follows.
absl::Status TakeText(SpeechRequest& request, const models::ModelInfo& model,
                      const SpeechNames& names, models::SynthesizeInput& input,
                      SpeechWork& result) {
  if (request.text_format == SpeechTextFormat::kPlain) {
    input.text = std::move(request.text);
    return absl::OkStatus();
  }
  speech::MarkupContext context = {.info = model.speech(),
                                   .model = model.name,
                                   .language = input.language,
                                   .speed = input.speed,
                                   .voice = input.voice,
                                   .has_voice = !request.voice.empty(),
                                   .manner = std::move(request.manner),
                                   .begin = request.begin};
  context.voice_named = [&](const std::string& name, std::string_view language) {
    return names.VoiceOf(model.speech(), name, language);
  };
  MILLRACE_ASSIGN_OR_RETURN(auto marked, ParseMarkup(request, context));
  input.text = std::move(marked.text);
  input.markup = std::move(marked.markup);
  result.manner_after = std::move(marked.manner_after);
  result.break_after = marked.break_after;
  return absl::OkStatus();
}

}  // namespace

std::optional<SpeechTextFormat> SpeechTextFormatNamed(std::string_view name) {
  if (name == "text") return SpeechTextFormat::kPlain;
  if (name == "tags") return SpeechTextFormat::kTags;
  if (name == "ssml") return SpeechTextFormat::kSsml;
  return std::nullopt;
}

absl::StatusOr<SpeechTextFormat> ParseSpeechTextFormat(std::string_view field,
                                                       std::string_view value) {
  if (const auto known = SpeechTextFormatNamed(value)) return *known;
  return InvalidArgument(field, ": ", Shown(value), " is not allowed; it is text, tags or ssml");
}

absl::StatusOr<SpeechWork> MakeSpeechWork(SpeechRequest request, models::AudioContainer container,
                                          size_t max_characters, const Services& services) {
  const bool is_phonemes = !request.phonemes.empty();
  if (is_phonemes && !request.text.empty()) {
    return InvalidArgument(
        "phonemes: must be empty when there is a text; a request has one of the two");
  }
  if (is_phonemes && request.text_format != SpeechTextFormat::kPlain) {
    return InvalidArgument("phonemes: must be empty with text_format, which says what the text is");
  }
  const char* field = is_phonemes ? "phonemes" : "text";
  const std::string& text = is_phonemes ? request.phonemes : request.text;
  MILLRACE_RETURN_IF_ERROR(CheckText(field, text));
  MILLRACE_RETURN_IF_ERROR(CheckTotal(field, models::CountCodePoints(text), max_characters));
  MILLRACE_RETURN_IF_ERROR(CheckVersion(request.model, request.model_version));
  const SpeechNames names(services.models, services.voice_aliases);
  MILLRACE_RETURN_IF_ERROR(names.Resolve(request));
  MILLRACE_ASSIGN_OR_RETURN(
      auto model,
      services.models.FindForTask(models::Task::kSynthesis, request.model, request.model_version));
  const models::SpeechInfo& info = model->info().speech();
  MILLRACE_ASSIGN_OR_RETURN(
      const auto rate,
      models::ResolveSampleRate(request.format, request.sample_rate, info.sample_rate));
  models::SynthesizeInput input;
  input.is_phonemes = is_phonemes;
  input.language = std::move(request.language);
  // An unknown language is left for the model to name in its error.
  if (std::string own = models::LookUpLanguage(info.languages, input.language); !own.empty())
    input.language = std::move(own);
  input.voice = request.voice;
  if (input.voice.empty()) input.voice = models::DefaultVoice(info, input.language);
  input.seed = request.seed;
  input.word_times = request.word_times;
  input.phoneme_times = request.phoneme_times;
  // Loudness is normalised over whole sentences, so those are not divided.
  input.streamed = container == models::AudioContainer::kStream && !request.normalize_loudness;
  if (request.speed) input.speed = *request.speed;
  absl::Status status = TakePositive("noise_scale", request.noise_scale, 2, input.noise_scale);
  status.Update(TakePositive("noise_w", request.noise_w, 2, input.noise_w));
  status.Update(TakePositive("sentence_pause_seconds", request.sentence_pause_seconds, 10,
                             input.sentence_pause));
  status.Update(TakePositive("paragraph_pause_seconds", request.paragraph_pause_seconds, 10,
                             input.paragraph_pause));
  if (!status.ok()) return status;
  SpeechWork result;
  if (is_phonemes) {
    input.text = std::move(request.phonemes);
  } else {
    status = TakeText(request, model->info(), names, input, result);
    if (!status.ok()) return status;
  }
  result.encoding = {.format = request.format,
                     .container = container,
                     .input_rate = info.sample_rate,
                     .output_rate = rate,
                     .normalize_loudness = request.normalize_loudness,
                     .volume = request.volume};
  result.voice = input.voice;
  result.work = Work{std::move(model), std::move(input)};
  return result;
}

}  // namespace millrace::server
