#include "models/kokoro/kokoro_model.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/kokoro/kokoro_batch.h"
#include "models/kokoro/kokoro_network.h"
#include "models/kokoro/kokoro_reader.h"
#include "models/kokoro/kokoro_settings.h"
#include "models/kokoro/kokoro_synthesizer.h"
#include "models/kokoro/speech_state.h"
#include "models/speech/speech_check.h"
#include "models/speech/speech_plan.h"
#include "models/speech/text_to_phonemes.h"
#include "models/speech/unit_recorder.h"
#include "models/speech/voice_mix.h"
#include "models/text/multilingual/espeak_language.h"
#include "models/text/unicode.h"
#include "mps_runtime/base/log_sink.h"

namespace millrace::kokoro {
namespace {

constexpr float kMinSpeed = 0.5F;
constexpr float kMaxSpeed = 2.0F;
// The cost of a second of speech on the CPU, relative to Piper's medium voices.
constexpr float kSpeechCost = 20;
static_assert(KokoroModel::kMaxBatch == KokoroBatch::kMaxSentences);
constexpr char kWarmupWords[] =
    "the first sentence that is spoken should not take longer than all of the others and so we say "
    "a few more words here until there are as many of them as people will ever ask for in one long "
    "sentence";
constexpr double kWarmupStep = 1.1;  // the least ratio between two ShapeBuckets is 8 / 7

// The loaded parts of a model.
struct Parts {
  KokoroSettings settings;
  KokoroNetwork network;
  models::SpeechPauses pauses;
  speech::SpeechCache::ForModel cache;
  bool few_shapes = false;
};

class SpeechBatch final : public models::Batch {
 public:
  SpeechBatch(const KokoroSynthesizer& synthesizer, int sample_rate,
              std::vector<models::Request*> requests)
      : synthesizer_(synthesizer), sample_rate_(sample_rate), requests_(std::move(requests)) {}

  void Forward(runtime::WorkerContext& context) override {
    results_ = synthesizer_.Speak(requests_, context);
  }

  void Complete() override {
    for (size_t i = 0; i < requests_.size(); ++i) {
      models::Request& request = *requests_[i];
      if (!results_[i].ok()) {
        request.Finish(results_[i].status());
        continue;
      }
      if (!*results_[i]) continue;  // cancelled, late or to be queued again: the queue handles it
      speech::SpeechPlan& plan = PlanOf(request);
      StateOf(request).recorder.Add(**results_[i]);
      request.Emit(plan.TakeChunk(**std::move(results_[i]), sample_rate_, true));
      const bool more = plan.Advance();
      request.AdvanceTo(plan.WorkLeft());
      if (!more) request.Finish(absl::OkStatus());
    }
  }

 private:
  const KokoroSynthesizer& synthesizer_;
  const int sample_rate_;
  const std::vector<models::Request*> requests_;
  std::vector<KokoroSynthesizer::Spoken> results_;
};

class LoadedKokoro final : public models::Model {
 public:
  LoadedKokoro(models::ModelInfo info, Parts parts, std::vector<KokoroReader::FrontEnd> front_ends)
      : info_(std::move(info)),
        parts_(std::move(parts)),
        synthesizer_(info_, parts_.network),
        reader_(parts_.settings, std::move(front_ends), parts_.network.max_phonemes()) {}

  const models::ModelInfo& info() const override { return info_; }
  absl::Status Validate(const models::Input& input) const override;
  double EstimateWork(const models::Input& input) const override {
    const auto& speech = std::get<models::SynthesizeInput>(input);
    return speech::EstimateWork(speech) * speech.speed;  // the network speaks at normal speed
  }
  std::unique_ptr<models::Batch> Prepare(std::span<models::Request* const> requests) const override;
  std::vector<models::Input> WarmupInputs() const override;
  std::vector<size_t> WarmupBatches() const override;

 private:
  // Emits the request's current unit if it is cached; returns false if it is not.
  bool EmitCached(models::Request& request) const;

  const models::ModelInfo info_;
  const Parts parts_;
  const KokoroSynthesizer synthesizer_;
  const KokoroReader reader_;
};

absl::Status RefuseNoise(const char* field, float value, const std::string& model) {
  if (value < 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", value, " is not allowed; model '",
                                                 model, "' has no such setting, leave it unset"));
}

absl::Status LoadedKokoro::Validate(const models::Input& input) const {
  const auto* speech = std::get_if<models::SynthesizeInput>(&input);
  if (speech == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("model '", info_.name, "' synthesizes speech and does nothing else"));
  }
  if (absl::Status status = speech::CheckSpeech(*speech, info_, reader_); !status.ok())
    return status;
  if (const auto mix = speech::ParseVoiceMix(speech->voice, info_.speech().voices); !mix.ok())
    return mix.status();
  for (const models::SpeechPart& part : speech->markup.parts) {
    const auto mix = speech::ParseVoiceMix(part.manner.voice, info_.speech().voices);
    if (!mix.ok()) return mix.status();
  }
  if (absl::Status status = speech::CheckSpeed(*speech, info_.speech()); !status.ok())
    return status;
  if (absl::Status status = RefuseNoise("noise_scale", speech->noise_scale, info_.name);
      !status.ok()) {
    return status;
  }
  return RefuseNoise("noise_w", speech->noise_w, info_.name);
}

std::unique_ptr<models::Batch> LoadedKokoro::Prepare(
    std::span<models::Request* const> requests) const {
  std::vector<models::Request*> ready;
  for (models::Request* request : requests) {
    if (request->state() == nullptr) {
      request->set_state(
          std::make_unique<SpeechState>(std::get<models::SynthesizeInput>(request->input()),
                                        parts_.pauses, info_.speech().sample_rate, parts_.cache));
      request->EstimateWorkLeft(PlanOf(*request).WorkLeft());
    }
    if (speech::PrepareUncached(*request, PlanOf(*request), reader_,
                                [&] { return EmitCached(*request); })) {
      ready.push_back(request);
    }
  }
  if (ready.empty()) return nullptr;
  return std::make_unique<SpeechBatch>(synthesizer_, info_.speech().sample_rate, std::move(ready));
}

bool LoadedKokoro::EmitCached(models::Request& request) const {
  SpeechState& state = StateOf(request);
  if (!state.recorder.on()) return false;
  const auto& input = std::get<models::SynthesizeInput>(request.input());
  auto shares = speech::ParseVoiceMix(state.plan.voice(), info_.speech().voices);
  if (!shares.ok()) return false;
  const auto known = state.recorder.Find({.ids = state.plan.ids(),
                                          .voices = *std::move(shares),
                                          .speed = 1,  // cached audio is not stretched yet
                                          .seed = input.seed,
                                          .place = input.first_sentence + state.plan.spoken()});
  if (known == nullptr) return false;
  state.plan.SetFrames(known->frames, parts_.network.samples_per_frame);
  request.Emit(state.plan.TakeChunk(known->samples, info_.speech().sample_rate, true));
  return true;
}

std::vector<models::Input> LoadedKokoro::WarmupInputs() const {
  models::SynthesizeInput input;
  input.text = "One.";
  input.use_cache = false;
  std::vector<models::Input> inputs = {input};
  if (!parts_.few_shapes) return inputs;
  // Covers each number of phonemes, and with them about each number of frames of one second to ten.
  const auto read = reader_.ToPhonemes(kWarmupWords, "", /*with_words=*/false);
  if (!read.ok()) return inputs;
  input.is_phonemes = true;
  double next = 2;  // the least number of phonemes that is worth another input
  for (size_t end = 0; end < read->phonemes.size();) {
    end += models::DecodeAt(read->phonemes, end).bytes;
    input.text = read->phonemes.substr(0, end);
    const auto count = reader_.ToIds(input.text).symbols.size();
    if (static_cast<double>(count) < next) continue;
    if (count > parts_.network.max_phonemes()) break;
    next = static_cast<double>(count) * kWarmupStep;
    inputs.emplace_back(input);
  }
  return inputs;
}

std::vector<size_t> LoadedKokoro::WarmupBatches() const {
  std::vector<size_t> sizes = {1};
  const size_t most = std::min(info_.batching.max_batch, KokoroBatch::kMaxSentences);
  while (parts_.few_shapes && 2 * sizes.back() <= std::bit_ceil(most))
    sizes.push_back(2 * sizes.back());
  return sizes;
}

// Returns the voices with the default first, or an error when the default does not exist.
absl::StatusOr<std::vector<std::string>> OrderVoices(const KokoroSettings& settings,
                                                     const KokoroOptions& options) {
  std::vector<std::string> voices = settings.voices;
  if (options.voice.empty()) return voices;
  const auto found = std::find(voices.begin(), voices.end(), options.voice);
  if (found == voices.end()) {
    return absl::InvalidArgumentError(absl::StrCat("voice: ", options.config_file.string(),
                                                   " has no voice '", options.voice,
                                                   "'; it has: ", absl::StrJoin(voices, ", ")));
  }
  std::rotate(voices.begin(), found, found + 1);
  return voices;
}

// Fills in the languages that the voices were made for. Returns an error that names a voice which
// does not exist.
absl::Status DescribeVoices(const KokoroOptions& options, models::SpeechInfo& info) {
  info.voice_languages.assign(info.voices.size(), "");
  const auto find = [&](const std::string& name) {
    return std::ranges::find(info.voices, name) - info.voices.begin();
  };
  for (const models::LanguageVoice& made : options.voice_languages) {
    const auto index = static_cast<size_t>(find(made.voice));
    if (index == info.voices.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("voices: ", options.config_file.string(), " has no voice '", made.voice,
                       "'; it has: ", absl::StrJoin(info.voices, ", ")));
    }
    info.voice_languages[index] = made.language;
  }
  info.default_voices = options.default_voices;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<models::Model>> KokoroModel::Load(const KokoroOptions& options,
                                                                 models::ModelInfo info) {
  const at::InferenceMode inference;
  Parts parts;
  auto settings = KokoroSettings::Read(options.config_file);
  if (!settings.ok()) return settings.status();
  parts.settings = *std::move(settings);
  auto voices = OrderVoices(parts.settings, options);
  if (!voices.ok()) return voices.status();
  auto network = KokoroNetwork::Read({.weights_file = options.weights_file,
                                      .voices = *voices,
                                      .sample_rate = parts.settings.sample_rate,
                                      .device = options.device,
                                      .padded = options.shapes != models::ShapePolicy::kExact,
                                      .name = absl::StrCat(info.name, "/", info.version)});
  if (!network.ok()) return network.status();
  parts.network = *std::move(network);
  if (parts.settings.largest_id() >= parts.network.encoder->symbols()) {
    return absl::DataLossError(absl::StrCat(options.config_file.string(), ": vocab has the number ",
                                            parts.settings.largest_id(), ", the weights know ",
                                            parts.network.encoder->symbols(), " symbols"));
  }
  if (parts.network.encoder->max_phonemes() <= static_cast<int64_t>(kEndMarks)) {
    return absl::DataLossError(absl::StrCat(options.weights_file.string(),
                                            ": bert.embeddings.position_embeddings.weight",
                                            " has no room for a phoneme"));
  }
  speech::TextToPhonemesOptions text;
  text.lexicon_file = options.lexicon_file;
  text.user_lexicon_file = options.user_lexicon_file;
  text.japanese_words_file = options.japanese_words_file;
  text.chinese_lexicon_file = options.chinese_lexicon_file;
  text.symbols = parts.settings.Symbols();
  text.espeak_program = options.espeak_program;
  text.max_espeak_processes = options.max_espeak_processes;
  text.espeak_timeout = options.espeak_timeout;
  std::vector<KokoroReader::FrontEnd> front_ends;
  std::vector<std::string> languages = {options.language};
  if (models::FindEspeakLanguage(options.language) != nullptr) {
    const auto english = speech::LanguageOfLexicon(options.lexicon_file);
    if (!english.ok()) return english.status();
    languages.push_back(*english);
  }
  languages.emplace_back("ja");
  for (const models::EspeakLanguage& language : models::kEspeakLanguages) {
    if (language.tag != options.language) languages.emplace_back(language.tag);
  }
  if (!options.chinese_lexicon_file.empty()) languages.emplace_back("zh");
  std::vector<std::string> refused;
  for (const std::string& language : languages) {
    text.language = language;
    auto front_end = speech::MakeTextToPhonemes(text);
    if (front_end.ok()) {
      front_ends.push_back({language, *std::move(front_end)});
      continue;
    }
    // A language that espeak-ng lacks is refused, and the model speaks the others.
    if (language == options.language || !absl::IsFailedPrecondition(front_end.status()))
      return front_end.status();
    SendToLog(LogSeverity::kWarning, absl::StrCat("model ", info.name, " does not speak ", language,
                                                  ": ", front_end.status().message()));
    front_ends.push_back({language, speech::RefuseTexts(language, front_end.status())});
    refused.push_back(language);
  }
  std::erase_if(languages, [&](const std::string& language) {
    return std::ranges::find(refused, language) != refused.end();
  });

  info.platform = "kokoro";
  auto& speech = info.details.emplace<models::SpeechInfo>();
  speech.language = options.language;
  // The readings of Japanese and Chinese are not given in phonemes.
  std::ranges::copy_if(
      languages, std::back_inserter(speech.pronunciation_languages),
      [](const std::string& language) { return language != "ja" && language != "zh"; });
  speech.languages = std::move(languages);
  speech.sample_rate = parts.settings.sample_rate;
  speech.voices = *std::move(voices);
  speech.speech_cost = kSpeechCost;
  speech.min_speed = kMinSpeed;
  speech.max_speed = kMaxSpeed;
  if (absl::Status status = DescribeVoices(options, speech); !status.ok()) return status;
  parts.pauses = options.pauses;
  parts.cache = options.cache;
  parts.few_shapes = options.shapes == models::ShapePolicy::kFew;
  return std::make_unique<LoadedKokoro>(std::move(info), std::move(parts), std::move(front_ends));
}

}  // namespace millrace::kokoro
