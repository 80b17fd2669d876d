#include "server/frontends/riva/speech_fields.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/speech_choice.h"
#include "models/core/strings.h"
#include "models/text/trim.h"
#include "server/frontends/riva/riva_voices.h"

namespace millrace::server {
namespace {

absl::StatusOr<models::AudioFormat> ToFormat(nvidia::riva::AudioEncoding encoding) {
  using Format = models::AudioFormat;
  static constexpr std::pair<nvidia::riva::AudioEncoding, Format> kFormats[] = {
      {nvidia::riva::ENCODING_UNSPECIFIED, Format::kPcmS16},
      {nvidia::riva::LINEAR_PCM, Format::kPcmS16},
      {nvidia::riva::FLAC, Format::kFlac},
      {nvidia::riva::MULAW, Format::kMuLaw},
      {nvidia::riva::ALAW, Format::kALaw},
      {nvidia::riva::OGGOPUS, Format::kOggOpus}};
  for (const auto& [known, format] : kFormats) {
    if (known == encoding) return format;
  }
  return InvalidArgument(
      "encoding: ", static_cast<int>(encoding),
      " is not supported; LINEAR_PCM (1), FLAC (2), MULAW (3), OGGOPUS (4) and ALAW (20) are");
}

constexpr char kTextFormat[] = "text_format";

// Returns true if a text begins as a document whose root is <speak>. The first piece of one may end
// within that tag.
bool BeginsAsSsml(std::string_view text) {
  constexpr std::string_view kRoot = "<speak";
  text = models::TrimLeft(text);
  if (text.starts_with("<?xml") || text.starts_with("<!DOCTYPE")) return true;
  if (!text.starts_with(kRoot)) return false;
  text.remove_prefix(kRoot.size());
  return text.empty() || text.find_first_of(" \t\r\n/>") == 0;
}

// Returns what the text is: as custom_configuration says, or by Riva's convention, which has no
// field for it and takes a text in <speak> for SSML.
absl::StatusOr<SpeechTextFormat> ToTextFormat(
    const nvidia::riva::tts::SynthesizeSpeechRequest& message) {
  const auto chosen = message.custom_configuration().find(kTextFormat);
  if (chosen == message.custom_configuration().end())
    return BeginsAsSsml(message.text()) ? SpeechTextFormat::kSsml : SpeechTextFormat::kPlain;
  return ParseSpeechTextFormat(StrCat("custom_configuration.", std::string_view(kTextFormat)),
                               chosen->second);
}

absl::Status CheckUnsupported(const nvidia::riva::tts::SynthesizeSpeechRequest& message) {
  if (!message.zero_shot_data().audio_prompt().empty()) {
    return InvalidArgument("zero_shot_data.audio_prompt: must be empty; no voice is cloned here");
  }
  for (const auto& [key, value] : message.custom_configuration()) {
    if (key == kTextFormat) continue;
    return InvalidArgument("custom_configuration: has the key ", Shown(key), "; only ",
                           std::string_view(kTextFormat), " is known here");
  }
  if (message.sample_rate_hz() < 0) {
    return InvalidArgument("sample_rate_hz: ", message.sample_rate_hz(),
                           " is not allowed; it is 0 (the voice's own) or ", models::kMinSampleRate,
                           "..", models::kMaxSampleRate, " hertz");
  }
  return absl::OkStatus();
}

// Returns OK if the model of the request takes pronunciations in its language.
absl::Status CheckTakesDictionary(const SpeechRequest& request, const Services& services) {
  MILLRACE_ASSIGN_OR_RETURN(
      const auto model,
      services.models.FindForTask(models::Task::kSynthesis, request.model, request.model_version));
  const models::ModelInfo& info = model->info();
  const std::string& language =
      request.language.empty() ? info.speech().language : request.language;
  if (models::ReadsPronunciations(info.speech(), language)) return absl::OkStatus();
  return InvalidArgument("custom_dictionary: model '", info.name,
                         "' takes no pronunciations in the language ", Shown(language));
}

int32_t Milliseconds(int64_t samples, int sample_rate) {
  return static_cast<int32_t>(
      std::clamp<int64_t>(samples * 1000 / sample_rate, 0, std::numeric_limits<int32_t>::max()));
}

}  // namespace

absl::StatusOr<RivaSpeech> ToRivaSpeech(nvidia::riva::tts::SynthesizeSpeechRequest message,
                                        const Services& services) {
  MILLRACE_RETURN_IF_ERROR(CheckUnsupported(message));
  MILLRACE_ASSIGN_OR_RETURN(const auto format, ToFormat(message.encoding()));
  MILLRACE_ASSIGN_OR_RETURN(auto dictionary, CustomDictionary::Parse(message.custom_dictionary()));
  MILLRACE_ASSIGN_OR_RETURN(const auto text_format, ToTextFormat(message));
  // A word of it may stand in a tag.
  if (!dictionary.empty() && text_format != SpeechTextFormat::kPlain) {
    return InvalidArgument(
        "custom_dictionary: must be empty for a text with markup; <phoneme> of SSML says how a "
        "word is pronounced");
  }
  RivaSpeech speech;
  SpeechRequest& request = speech.request;
  request.text = std::move(*message.mutable_text());
  request.text_format = text_format;
  request.language = std::move(*message.mutable_language_code());
  request.format = format;
  request.sample_rate = static_cast<uint32_t>(message.sample_rate_hz());
  request.word_times = message.enable_word_time_offsets();
  absl::Status status = ChooseRivaVoice(message.voice_name(), services, request);
  if (status.ok() && !dictionary.empty()) status = CheckTakesDictionary(request, services);
  if (!status.ok()) return status;
  request.text = dictionary.Apply(request.text);
  speech.dictionary = std::move(dictionary);
  return speech;
}

void AddWordTimings(std::vector<models::SpokenSpan> words, int sample_rate, WordTimings& timings) {
  for (models::SpokenSpan& word : words) {
    nvidia::riva::tts::WordTiming& timing = *timings.Add();
    timing.set_word(std::move(word.text));
    timing.set_start_time(Milliseconds(word.begin, sample_rate));
    timing.set_end_time(Milliseconds(word.end, sample_rate));
  }
}

}  // namespace millrace::server
