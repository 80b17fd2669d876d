#include "models/synthesis/kokoro_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/synthesis/aten_device.h"
#include "models/synthesis/kokoro_decoder.h"
#include "models/synthesis/kokoro_encoder.h"
#include "models/synthesis/kokoro_reader.h"
#include "models/synthesis/kokoro_settings.h"
#include "models/synthesis/kokoro_weights.h"
#include "models/synthesis/noise.h"
#include "models/synthesis/speech_plan.h"
#include "models/synthesis/text_to_phonemes.h"
#include "models/synthesis/voice_mix.h"

namespace millrace::models {
namespace {

constexpr float kMinSpeed = 0.5F;
constexpr float kMaxSpeed = 2.0F;
// Of one unit: the decoder's memory grows with it, by about 15 MB a second.
constexpr int64_t kMaxUnitSeconds = 60;
constexpr int64_t kEndMarks = 2;

// What is left to say of one request.
struct SpeechState final : RequestState {
  explicit SpeechState(const SynthesizeInput& input) : plan(input) {}

  SpeechPlan plan;
};

// What was loaded of one model.
struct Parts {
  KokoroSettings settings;
  std::vector<at::Tensor> styles;  // of each voice [phonemes, style], on the device
  std::unique_ptr<KokoroEncoder> encoder;
  std::unique_ptr<KokoroDecoder> decoder;
  int64_t samples_per_frame = 0;
};

class LoadedKokoro final : public Model {
 public:
  LoadedKokoro(ModelInfo info, Parts parts, std::vector<KokoroReader::FrontEnd> front_ends)
      : info_(std::move(info)),
        parts_(std::move(parts)),
        reader_(parts_.settings, std::move(front_ends), max_phonemes()) {}

  const ModelInfo& info() const override { return info_; }
  absl::Status Validate(const Input& input) const override;
  std::unique_ptr<Batch> Prepare(std::span<Request* const> requests) const override;
  std::vector<Input> WarmupInputs() const override;

  // The samples of the request's next unit. nullopt when the request was to stop meanwhile, or when
  // the unit proved too long and its halves come first. An error ends the request.
  absl::StatusOr<std::optional<std::vector<float>>> Speak(Request& request) const;

 private:
  // [1, style], for so many phonemes without the marks of the ends.
  at::Tensor MixStyle(const std::vector<VoiceShare>& shares, size_t phonemes) const;
  size_t max_phonemes() const {
    return static_cast<size_t>(
        std::min(parts_.encoder->max_phonemes() - kEndMarks, parts_.styles.front().size(0)));
  }

  const ModelInfo info_;
  const Parts parts_;
  const KokoroReader reader_;
};

class SpeechBatch final : public Batch {
 public:
  SpeechBatch(const LoadedKokoro& model, std::vector<Request*> requests)
      : model_(model), requests_(std::move(requests)), results_(requests_.size()) {}

  void Forward(runtime::WorkerContext&) override {
    for (size_t i = 0; i < requests_.size(); ++i) results_[i] = model_.Speak(*requests_[i]);
  }

  void Complete() override {
    for (size_t i = 0; i < requests_.size(); ++i) {
      Request& request = *requests_[i];
      if (!results_[i].ok()) {
        request.Finish(results_[i].status());
        continue;
      }
      if (!*results_[i]) continue;  // cancelled, late or to go round again: the queue sees to it
      SpeechPlan& plan = static_cast<SpeechState&>(*request.state()).plan;
      request.Emit(plan.TakePiece(**std::move(results_[i]), model_.info().sample_rate, true));
      if (!plan.Advance()) request.Finish(absl::OkStatus());
    }
  }

 private:
  const LoadedKokoro& model_;
  const std::vector<Request*> requests_;
  std::vector<absl::StatusOr<std::optional<std::vector<float>>>> results_;  // nullopt: not spoken
};

absl::Status RefuseNoise(const char* field, float value, const std::string& model) {
  if (value < 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", value, " is not allowed; model '",
                                                 model, "' has no such setting, leave it unset"));
}

absl::Status LoadedKokoro::Validate(const Input& input) const {
  const auto* speech = std::get_if<SynthesizeInput>(&input);
  if (speech == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("model '", info_.name, "' synthesizes speech and does nothing else"));
  }
  if (absl::Status status = CheckSpeech(*speech, info_, reader_); !status.ok()) return status;
  if (const auto mix = ParseVoiceMix(speech->voice, info_.voices); !mix.ok()) return mix.status();
  if (!(speech->speed >= kMinSpeed && speech->speed <= kMaxSpeed)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "speed: ", speech->speed, " is not allowed; it is ", kMinSpeed, "..", kMaxSpeed));
  }
  if (absl::Status status = RefuseNoise("noise_scale", speech->noise_scale, info_.name);
      !status.ok()) {
    return status;
  }
  return RefuseNoise("noise_w", speech->noise_w, info_.name);
}

std::unique_ptr<Batch> LoadedKokoro::Prepare(std::span<Request* const> requests) const {
  std::vector<Request*> ready;
  for (Request* request : requests) {
    if (request->state() == nullptr) {
      request->set_state(
          std::make_unique<SpeechState>(std::get<SynthesizeInput>(request->input())));
    }
    if (static_cast<SpeechState&>(*request->state()).plan.Prepare(*request, reader_))
      ready.push_back(request);
  }
  if (ready.empty()) return nullptr;
  return std::make_unique<SpeechBatch>(*this, std::move(ready));
}

at::Tensor LoadedKokoro::MixStyle(const std::vector<VoiceShare>& shares, size_t phonemes) const {
  at::Tensor mixed;
  for (const VoiceShare& share : shares) {
    const at::Tensor row =
        parts_.styles[share.voice].narrow(0, static_cast<int64_t>(phonemes) - 1, 1);
    if (shares.size() == 1) return row;
    const at::Tensor part = row * share.weight;
    mixed = mixed.defined() ? mixed + part : part;
  }
  return mixed;
}

absl::StatusOr<std::optional<std::vector<float>>> LoadedKokoro::Speak(Request& request) const {
  const at::InferenceMode inference;
  if (request.ShouldStop()) return std::nullopt;
  const auto& input = std::get<SynthesizeInput>(request.input());
  SpeechPlan& plan = static_cast<SpeechState&>(*request.state()).plan;
  const auto shares = ParseVoiceMix(input.voice, info_.voices);
  if (!shares.ok()) return shares.status();
  const at::Tensor style = MixStyle(*shares, plan.symbols());
  const int64_t half = parts_.decoder->style_channels();
  const KokoroEncoder::Output encoded =
      parts_.encoder->Forward(plan.ids(), style.narrow(1, half, half), input.speed);

  if (std::find(encoded.frames.begin(), encoded.frames.end(), 0) != encoded.frames.end()) {
    return absl::InternalError(
        absl::StrCat("model '", info_.name, "' gave a phoneme a length that is no number"));
  }
  const int64_t frames = std::accumulate(encoded.frames.begin(), encoded.frames.end(), int64_t{0});
  const int64_t samples = frames * parts_.samples_per_frame;
  if (samples > kMaxUnitSeconds * info_.sample_rate) {
    if (plan.Halve()) return std::nullopt;
    return absl::InvalidArgumentError(
        absl::StrCat(plan.field(), ", speed: one sentence would last ", samples / info_.sample_rate,
                     " seconds, allowed are ", kMaxUnitSeconds));
  }
  plan.SetFrames(encoded.frames, parts_.samples_per_frame);
  if (request.ShouldStop()) return std::nullopt;
  const KokoroDecoder::Curves curves = parts_.decoder->Predict(encoded, style);
  if (request.ShouldStop()) return std::nullopt;
  std::vector<float> noise(static_cast<size_t>(samples * parts_.decoder->noise_per_sample()));
  NoiseSource(input.seed, input.first_sentence + plan.spoken()).Fill(noise);
  return parts_.decoder->Decode(encoded, curves, style, noise,
                                [&request] { return request.ShouldStop(); });
}

// A short one: nothing is kept for a shape, so that it only brings up the device's libraries.
std::vector<Input> LoadedKokoro::WarmupInputs() const {
  SynthesizeInput input;
  input.text = "One.";
  return {input};
}

// The voices with the default first; an error when there is none of its name.
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

}  // namespace

absl::StatusOr<std::unique_ptr<Model>> KokoroModel::Load(const KokoroOptions& options,
                                                         ModelInfo info) {
  const at::InferenceMode inference;
  Parts parts;
  auto settings = KokoroSettings::Read(options.config_file);
  if (!settings.ok()) return settings.status();
  parts.settings = *std::move(settings);
  auto voices = OrderVoices(parts.settings, options);
  if (!voices.ok()) return voices.status();

  auto weights = KokoroWeights::Open(options.weights_file, ToAten(options.device));
  if (!weights.ok()) return weights.status();
  parts.encoder = std::make_unique<KokoroEncoder>(*weights);
  if (!weights->status().ok()) return weights->status();
  parts.decoder = std::make_unique<KokoroDecoder>(*weights, parts.settings.sample_rate);
  if (!weights->status().ok()) return weights->status();
  for (const std::string& voice : *voices) {
    parts.styles.push_back(
        weights->Take("voices." + voice, {-1, 2 * parts.decoder->style_channels()}));
    if (!weights->status().ok()) return weights->status();
    if (parts.styles.back().size(0) == parts.styles.front().size(0)) continue;
    return absl::DataLossError(absl::StrCat(
        options.weights_file.string(), ": voices.", voice, " has ", parts.styles.back().size(0),
        " rows, voices.", voices->front(), " has ", parts.styles.front().size(0)));
  }
  if (parts.settings.largest_id() >= parts.encoder->symbols()) {
    return absl::DataLossError(absl::StrCat(options.config_file.string(), ": vocab has the number ",
                                            parts.settings.largest_id(), ", the weights know ",
                                            parts.encoder->symbols(), " symbols"));
  }
  if (parts.encoder->max_phonemes() <= static_cast<int64_t>(kEndMarks)) {
    return absl::DataLossError(absl::StrCat(options.weights_file.string(),
                                            ": bert.embeddings.position_embeddings.weight",
                                            " has no room for a phoneme"));
  }
  TextToPhonemesOptions text;
  text.lexicon_file = options.lexicon_file;
  text.user_lexicon_file = options.user_lexicon_file;
  text.symbols = parts.settings.Symbols();
  text.espeak_program = options.espeak_program;
  text.max_espeak_processes = options.max_espeak_processes;
  text.espeak_timeout = options.espeak_timeout;
  std::vector<KokoroReader::FrontEnd> front_ends;
  for (const std::string& language : {options.language, std::string("ja")}) {
    text.language = language;
    auto front_end = MakeTextToPhonemes(text);
    if (!front_end.ok()) return front_end.status();
    front_ends.push_back({language, *std::move(front_end)});
    info.languages.push_back(language);
  }

  info.task = Task::kSynthesis;
  info.platform = "kokoro";
  info.language = options.language;
  info.sample_rate = parts.settings.sample_rate;
  info.voices = *std::move(voices);
  parts.samples_per_frame = weights->shape().samples_per_frame();
  return std::make_unique<LoadedKokoro>(std::move(info), std::move(parts), std::move(front_ends));
}

}  // namespace millrace::models
