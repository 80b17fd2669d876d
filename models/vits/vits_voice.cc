#include "models/vits/vits_voice.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "models/core/errors.h"
#include "models/core/espeak_options.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/speech/noise.h"
#include "models/speech/speak_together.h"
#include "models/speech/speech_plan.h"
#include "models/speech/speech_reader.h"
#include "models/speech/speech_state.h"
#include "models/speech/voice_level.h"
#include "models/text/english/respelled_text.h"
#include "models/text/english/text_normalizer.h"
#include "models/text/phonemizer.h"
#include "models/text/unicode.h"
#include "models/vits/letter_reader.h"
#include "models/vits/voice_config.h"

namespace millrace::vits {
namespace {

// Reads for a Piper voice: phonemes by espeak-ng with a pad after each. English numbers, dates,
// abbreviations and symbols become words before, because espeak-ng reads them badly. Borrows the
// voice.
class VitsReader final : public speech::SpeechReader {
 public:
  VitsReader(const VoiceConfig& voice, std::unique_ptr<const models::Phonemizer> phonemizer);

  absl::StatusOr<models::PhonemeText> ToPhonemes(std::string_view sentence,
                                                 std::string_view language,
                                                 bool with_words) const override;
  std::string FromIpa(std::string_view ipa) const override;
  speech::PhonemeIds ToIds(std::string_view phonemes) const override {
    return voice_.ToIds(phonemes);
  }
  std::string Symbols() const override { return voice_.Symbols(); }
  size_t max_symbols() const override { return VoiceConfig::kMaxSymbols; }

 private:
  const VoiceConfig& voice_;
  const std::unique_ptr<const models::Phonemizer> phonemizer_;
  // Nullopt: the voice speaks another language.
  const std::optional<models::TextNormalizer> english_;
};

// Decides by espeak-ng's name of the voice, such as "en-us"; only two of its English voices are
// American.
std::optional<models::TextNormalizer> EnglishOf(std::string_view espeak_voice) {
  if (espeak_voice != "en" && !espeak_voice.starts_with("en-")) return std::nullopt;
  return models::TextNormalizer(espeak_voice.starts_with("en-us") ? models::EnglishDialect::kUs
                                                                  : models::EnglishDialect::kGb);
}

VitsReader::VitsReader(const VoiceConfig& voice,
                       std::unique_ptr<const models::Phonemizer> phonemizer)
    : voice_(voice), phonemizer_(std::move(phonemizer)), english_(EnglishOf(voice.espeak_voice)) {}

absl::StatusOr<models::PhonemeText> VitsReader::ToPhonemes(std::string_view sentence,
                                                           std::string_view /*language*/,
                                                           bool with_words) const {
  models::RespelledText english;
  if (english_) english = models::RespellForEspeak(*english_, sentence);
  // espeak-ng may know a text of which the normaliser leaves nothing.
  const bool respelled = !english.words.empty();
  if (with_words) {
    return respelled
               ? phonemizer_->PhonemizeParts(english.text, english.words, /*has_phonemes=*/true)
               : phonemizer_->PhonemizeWords(sentence);
  }
  MILLRACE_ASSIGN_OR_RETURN(auto phonemes,
                            phonemizer_->Phonemize(respelled ? english.text : sentence, respelled));
  return models::PhonemeText{std::move(phonemes), {}};
}

std::string VitsReader::FromIpa(std::string_view ipa) const {
  // The letter g that espeak-ng writes is IPA's own; authors often type the other one.
  return absl::StrReplaceAll(models::Decompose(std::string(ipa)), {{"g", "ɡ"}, {"\u0361", ""}});
}

constexpr float kMaxNoise = 2.0F;
constexpr uint64_t kDurationStream = 0;  // streams of a sentence's noise
constexpr uint64_t kLatentStream = 1;
// These texts take about one second and about five.
constexpr char kWarmupPhrase[] = "Thank you very much.";
constexpr char kWarmupSentence[] =
    "The first sentence that is spoken should not take longer than all the others.";
constexpr float kWarmupStep = 1.14F;  // the least ratio between two ShapeBuckets is 8 / 7

speech::VoiceTraits TraitsOf(const VitsVoice::Network& network) {
  return {.samples_per_frame = network.hop,
          .max_unit_seconds = 300,
          .max_id_frames = VitsEncoder::kMaxFrames,
          // About two seconds. In shorter units the sounds at both ends, which last about as long
          // at any speed, would make more than 3 % of the time.
          .stretched_symbols = 32,
          // Chunks of a streamed unit: a third of a second first, then longer ones up to about four
          // seconds. Elsewhere the decoder makes a unit at once.
          .first_chunk_frames = 32,
          .max_chunk_frames = network.decodes_elsewhere ? 0 : 384,
          .readings_at_once = models::EspeakOptions().max_processes,
          .length_fields = ", speed, noise_w"};
}

// The decoder's input for a unit, until the decoding has begun.
struct VitsUnit final : public speech::UnitState {
  VitsDecoder::Input input;  // refers to noise
  std::vector<float> noise;
  std::unique_ptr<VitsDecoder::Decoding> decoding;  // null: not begun
};

VitsUnit& UnitOf(models::Request& request) {
  return static_cast<VitsUnit&>(*speech::StateOf(request).unit);
}

uint64_t StreamOf(size_t unit, uint64_t stream) { return 2 * static_cast<uint64_t>(unit) + stream; }

std::vector<float> MakeNoise(uint64_t seed, size_t unit, uint64_t stream, size_t count) {
  std::vector<float> noise(count);
  speech::NoiseSource(seed, StreamOf(unit, stream)).Fill(noise);
  return noise;
}

// Borrows the voice.
std::unique_ptr<const speech::SpeechReader> MakeReader(
    const VoiceConfig& voice, std::unique_ptr<const models::Phonemizer> phonemizer) {
  if (voice.reads_letters) return std::make_unique<LetterReader>(voice);
  return std::make_unique<VitsReader>(voice, std::move(phonemizer));
}

absl::Status CheckNoiseOf(const char* field, float value) {
  if (std::isfinite(value) && value <= kMaxNoise) return absl::OkStatus();
  return InvalidArgument(field, ": ", value, " is not allowed; it is 0..", kMaxNoise,
                         ", or unset for the voice's own");
}

}  // namespace

VitsVoice::VitsVoice(models::ModelInfo info, VoiceConfig config, std::vector<Speaker> speakers,
                     std::unique_ptr<const models::Phonemizer> phonemizer, Network network,
                     models::ShapePolicy shapes)
    : Voice(std::move(info), TraitsOf(network)),
      config_(std::move(config)),
      speakers_(std::move(speakers)),
      reader_(MakeReader(config_, std::move(phonemizer))),
      network_(std::move(network)),
      shapes_(shapes) {}

absl::StatusOr<std::vector<speech::VoiceShare>> VitsVoice::SharesOf(std::string_view voice) const {
  if (const Speaker* const speaker = FindSpeaker(speakers_, voice); speaker != nullptr)
    return std::vector<speech::VoiceShare>{{.voice = static_cast<size_t>(speaker->id)}};
  return InvalidArgument("voice: model '", info().name, "' has no voice ", Shown(voice),
                         "; it has: ", absl::StrJoin(info().speech().voices, ", "));
}

absl::Status VitsVoice::CheckNoise(const models::SynthesizeInput& input) const {
  MILLRACE_RETURN_IF_ERROR(CheckNoiseOf("noise_scale", input.noise_scale));
  return CheckNoiseOf("noise_w", input.noise_w);
}

void VitsVoice::AddSettings(const models::SynthesizeInput& input, speech::UnitInput& unit) const {
  unit.noise_scale = NoiseScale(input);
  unit.noise_w = NoiseW(input);
  if (unit.noise_scale > 0 || unit.noise_w > 0) return;
  // Without noise a unit sounds the same wherever it stands.
  unit.seed = 0;
  unit.place = 0;
}

absl::StatusOr<bool> VitsVoice::PrepareUnit(models::Request& request) const {
  return network_.decodes_elsewhere && network_.batch == nullptr ? Encode(request) : true;
}

absl::StatusOr<bool> VitsVoice::Encode(models::Request& request) const {
  const at::InferenceMode inference;
  const auto& input = std::get<models::SynthesizeInput>(request.input());
  speech::SpeechState& state = speech::StateOf(request);
  const speech::SpeechPlan& plan = state.plan;
  const size_t place = input.first_sentence + plan.spoken();
  const int64_t speaker = FindSpeaker(speakers_, plan.voice())->id;
  const std::vector<float> rhythm =
      MakeNoise(input.seed, place, kDurationStream, 2 * plan.ids().size());
  VitsEncoder::Output encoded =
      network_.encoder->Forward(plan.ids(), rhythm, NoiseW(input), config_.length_scale, speaker);
  // The network rounds each length up, which would be too much for shorter ones, so that it is
  // BeginUnit which scales them.
  MILLRACE_ASSIGN_OR_RETURN(const bool begun, state.BeginUnit(encoded.frames));
  if (!begun) return false;
  auto unit = std::make_unique<VitsUnit>();
  unit->noise = MakeNoise(input.seed, place, kLatentStream,
                          static_cast<size_t>(state.frames() * network_.encoder->latent()));
  unit->input.statistics = std::move(encoded.statistics);
  unit->input.frames = std::move(encoded.frames);
  unit->input.noise = unit->noise;
  unit->input.noise_scale = NoiseScale(input);
  unit->input.speaker = speaker;
  state.unit = std::move(unit);
  return true;
}

speech::Voice::Spoken VitsVoice::SpeakAlone(models::Request& request,
                                            runtime::WorkerContext& context) const {
  const at::InferenceMode inference;
  speech::SpeechState& state = speech::StateOf(request);
  if (state.unit == nullptr) {
    MILLRACE_ASSIGN_OR_RETURN(const bool begun, Encode(request));
    if (!begun) return std::nullopt;
  }
  if (request.ShouldStop()) return std::nullopt;
  VitsUnit& unit = UnitOf(request);
  if (unit.decoding == nullptr) {
    unit.decoding = network_.decoder->Start(unit.input);
    unit.input = {};
    unit.noise = {};
  }
  auto samples = unit.decoding->Generate(
      state.spoken_frames(), state.NextFrames(), [&request] { return request.ShouldStop(); },
      context);
  if (samples) speech::ApplyGain(network_.gain_db, *samples);
  return samples;
}

std::vector<speech::Voice::Spoken> VitsVoice::Speak(std::span<models::Request* const> requests,
                                                    runtime::WorkerContext& context) const {
  if (network_.batch == nullptr) return Voice::Speak(requests, context);
  const at::InferenceMode inference;
  std::vector<Spoken> spoken = speech::SpeakTogether(
      *network_.batch, requests,
      [this](models::Request& request) -> absl::StatusOr<VitsBatch::Sentence> {
        return SentenceOf(request);
      },
      context);
  for (Spoken& one : spoken) {
    if (one.ok() && *one) speech::ApplyGain(network_.gain_db, **one);
  }
  return spoken;
}

VitsBatch::Sentence VitsVoice::SentenceOf(models::Request& request) const {
  const auto& input = std::get<models::SynthesizeInput>(request.input());
  const speech::SpeechPlan& plan = speech::StateOf(request).plan;
  const size_t place = input.first_sentence + plan.spoken();
  return {.phonemes = plan.ids(),
          .speaker = FindSpeaker(speakers_, plan.voice())->id,
          .noise_scale = NoiseScale(input),
          .noise_w = NoiseW(input),
          .seed = input.seed,
          .duration_stream = StreamOf(place, kDurationStream),
          .latent_stream = StreamOf(place, kLatentStream)};
}

std::vector<models::SynthesizeInput> VitsVoice::WarmupInputs() const {
  std::vector<models::SynthesizeInput> inputs;
  const auto spelled = [this](const char* text) {
    return config_.reads_letters ? SpelledBy(config_, text) : text;
  };
  if (config_.reads_letters) inputs.emplace_back().text = spelled(kWarmupPhrase);
  if (shapes_ == models::ShapePolicy::kExact) return inputs;
  inputs.emplace_back().text = spelled(kWarmupSentence);
  if (shapes_ != models::ShapePolicy::kFew) return inputs;
  // Covers, at every speed, about each length from half a second to ten, with words spoken as
  // evenly as possible.
  for (const char* text : {kWarmupPhrase, kWarmupSentence}) {
    float speed = 0.5F;
    while (speed < kMaxSpeed) {
      models::SynthesizeInput& input = inputs.emplace_back();
      input.text = spelled(text);
      input.speed = speed;
      input.noise_w = 0;
      speed *= kWarmupStep;
    }
  }
  // A batch has a shape for every doubling of the phonemes.
  std::string longer = kWarmupSentence;
  while (network_.batch != nullptr && 2 * longer.size() < traits().max_unit_bytes) {
    longer.back() = ',';
    longer += StrCat(" ", longer);
    longer.back() = '.';
    inputs.emplace_back().text = spelled(longer.c_str());
  }
  return inputs;
}

std::vector<size_t> VitsVoice::WarmupBatches() const {
  std::vector<size_t> sizes = {1};
  if (network_.batch == nullptr || shapes_ != models::ShapePolicy::kFew) return sizes;
  const size_t most = std::min(info().batching.max_batch, VitsBatch::kMaxSentences);
  while (2 * sizes.back() <= most) sizes.push_back(2 * sizes.back());
  return sizes;
}

}  // namespace millrace::vits
