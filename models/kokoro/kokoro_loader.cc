#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/kernels/target.h"
#include "models/kokoro/kokoro_kind.h"
#include "models/kokoro/kokoro_network.h"
#include "models/kokoro/kokoro_reader.h"
#include "models/kokoro/kokoro_settings.h"
#include "models/kokoro/kokoro_voice.h"
#include "models/speech/speech_model.h"
#include "models/speech/text_to_phonemes.h"
#include "models/speech/voice_precision.h"
#include "models/text/multilingual/espeak_language.h"
#include "mps_runtime/base/log_sink.h"
#include "mps_runtime/device_traits.h"

namespace millrace::kokoro {
namespace {

constexpr float kMinSpeed = 0.5F;
constexpr float kMaxSpeed = 2.0F;
// The cost of a second of speech on the CPU, relative to Piper's medium voices.
constexpr float kSpeechCost = 20;

// Returns the voices with the default first, or an error when the default does not exist.
absl::StatusOr<std::vector<std::string>> OrderVoices(const KokoroSettings& settings,
                                                     const std::filesystem::path& config_file,
                                                     const std::string& first) {
  std::vector<std::string> voices = settings.voices;
  if (first.empty()) return voices;
  const auto found = std::find(voices.begin(), voices.end(), first);
  if (found == voices.end()) {
    return InvalidArgument("voice: ", config_file.string(), " has no voice '", first,
                           "'; it has: ", absl::StrJoin(voices, ", "));
  }
  std::rotate(voices.begin(), found, found + 1);
  return voices;
}

// Fills in the languages that the voices were made for and those whose default they are. Returns an
// error that names a voice which does not exist.
absl::Status DescribeVoices(const std::vector<KokoroVoiceConfig>& voices,
                            const std::filesystem::path& config_file, models::SpeechInfo& info) {
  info.voice_languages.assign(info.voices.size(), "");
  info.default_voices.clear();
  for (const KokoroVoiceConfig& voice : voices) {
    const auto found = std::ranges::find(info.voices, voice.name);
    if (found == info.voices.end()) {
      return InvalidArgument("voices: ", config_file.string(), " has no voice '", voice.name,
                             "'; it has: ", absl::StrJoin(info.voices, ", "));
    }
    info.voice_languages[static_cast<size_t>(found - info.voices.begin())] = voice.language;
    for (const std::string& language : voice.default_for)
      info.default_voices.push_back({language, voice.name});
  }
  return absl::OkStatus();
}

// A model's front ends and the languages of those that can speak; the first is the model's own.
struct FrontEnds {
  std::vector<KokoroReader::FrontEnd> all;
  std::vector<std::string> spoken;
};

absl::StatusOr<FrontEnds> MakeFrontEnds(const KokoroConfig& config,
                                        speech::TextToPhonemesOptions text,
                                        const std::string& model) {
  std::vector<std::string> languages = {config.language};
  if (models::FindEspeakLanguage(config.language) != nullptr) {
    MILLRACE_ASSIGN_OR_RETURN(const auto english, speech::LanguageOfLexicon(text.lexicon_file));
    languages.push_back(english);
  }
  languages.emplace_back("ja");
  for (const models::EspeakLanguage& language : models::kEspeakLanguages) {
    if (language.tag != config.language) languages.emplace_back(language.tag);
  }
  if (!text.chinese_lexicon_file.empty()) languages.emplace_back("zh");
  FrontEnds made;
  for (const std::string& language : languages) {
    text.language = language;
    auto front_end = speech::MakeTextToPhonemes(text);
    if (front_end.ok()) {
      made.all.push_back({language, *std::move(front_end)});
      made.spoken.push_back(language);
      continue;
    }
    // A language that espeak-ng lacks is refused, and the model speaks the others.
    if (language == config.language || !absl::IsFailedPrecondition(front_end.status()))
      return front_end.status();
    SendToLog(LogSeverity::kWarning, StrCat("model ", model, " does not speak ", language, ": ",
                                            front_end.status().message()));
    made.all.push_back({language, speech::RefuseTexts(language, front_end.status())});
  }
  return made;
}

absl::StatusOr<std::unique_ptr<models::Model>> Load(const models::KindConfig& kind_config,
                                                    const models::LoadContext& context,
                                                    models::ModelInfo info) {
  const at::InferenceMode inference;
  const auto& config = static_cast<const KokoroConfig&>(kind_config);
  const auto in_folder = [&](const std::string& file) {
    return file.empty() ? std::filesystem::path() : context.folder / file;
  };
  const std::filesystem::path config_file = in_folder(config.config_file);
  const std::filesystem::path weights_file = in_folder(config.file);
  MILLRACE_ASSIGN_OR_RETURN(
      const auto precision,
      speech::ChoosePrecision(
          config.precision, context, info.name,
          {kernels::Target::kAmxInt8, kernels::Target::kAvx512Vnni, kernels::Target::kAvxVnni}));
  MILLRACE_ASSIGN_OR_RETURN(auto settings, KokoroSettings::Read(config_file));
  MILLRACE_ASSIGN_OR_RETURN(auto voices, OrderVoices(settings, config_file, config.voice));
  MILLRACE_ASSIGN_OR_RETURN(
      auto network,
      KokoroNetwork::Read({.weights_file = weights_file,
                           .voices = voices,
                           .sample_rate = settings.sample_rate,
                           .device = context.device,
                           .padded = context.shapes != models::ShapePolicy::kExact,
                           .precision = precision,
                           .finite = config.precision.asked == kernels::Precision::kInt8,
                           .name = StrCat(info.name, "/", info.version)}));
  if (settings.largest_id() >= network.encoder->symbols()) {
    return DataLoss(config_file.string(), ": vocab has the number ", settings.largest_id(),
                    ", the weights know ", network.encoder->symbols(), " symbols");
  }
  if (network.encoder->max_phonemes() <= static_cast<int64_t>(kEndMarks)) {
    return DataLoss(weights_file.string(), ": bert.embeddings.position_embeddings.weight",
                    " has no room for a phoneme");
  }
  MILLRACE_ASSIGN_OR_RETURN(
      auto front_ends,
      MakeFrontEnds(config,
                    {.language = config.language,
                     .lexicon_file = in_folder(config.lexicon_file),
                     .user_lexicon_file = in_folder(config.user_lexicon_file),
                     .japanese_words_file = in_folder(config.japanese_words_file),
                     .chinese_lexicon_file = in_folder(config.chinese_lexicon_file),
                     .symbols = settings.Symbols(),
                     .espeak = context.espeak},
                    info.name));

  info.platform = "kokoro";
  if (context.max_batch == 0 && runtime::TraitsOf(context.device).large_batches)
    info.batching.max_batch = KokoroBatch::kMaxSentences;
  auto& speech = info.details.emplace<models::SpeechInfo>();
  speech.language = config.language;
  // The readings of Japanese and Chinese are not given in phonemes.
  std::ranges::copy_if(
      front_ends.spoken, std::back_inserter(speech.pronunciation_languages),
      [](const std::string& language) { return language != "ja" && language != "zh"; });
  speech.languages = std::move(front_ends.spoken);
  speech.sample_rate = settings.sample_rate;
  speech.voices = std::move(voices);
  speech.speech_cost = kSpeechCost;
  speech.min_speed = kMinSpeed;
  speech.max_speed = kMaxSpeed;
  speech.precision = speech::NameOf(precision);
  speech.int8_distance_db = config.precision.int8_distance_db;
  MILLRACE_RETURN_IF_ERROR(DescribeVoices(config.voices, config_file, speech));
  return speech::MakeSpeechModel(
      std::make_unique<KokoroVoice>(std::move(info), std::move(settings), std::move(network),
                                    std::move(front_ends.all),
                                    context.shapes == models::ShapePolicy::kFew),
      config.pauses, context);
}

}  // namespace

const models::ModelLoader kLoader = {&kKind, &Load};

}  // namespace millrace::kokoro
