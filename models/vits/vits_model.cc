#include "models/vits/vits_model.h"

#include <ATen/core/grad_mode.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/speech/aten_device.h"
#include "models/speech/speech_check.h"
#include "models/speech/speech_plan.h"
#include "models/speech/unit_recorder.h"
#include "models/text/phonemizer.h"
#include "models/vits/speakers.h"
#include "models/vits/speech_state.h"
#include "models/vits/vits_decoder.h"
#include "models/vits/vits_encoder.h"
#include "models/vits/vits_reader.h"
#include "models/vits/vits_synthesizer.h"
#include "models/vits/vits_weights.h"
#include "models/vits/voice_config.h"

namespace millrace::vits {
namespace {

constexpr float kMinSpeed = 0.25F;
constexpr float kMaxSpeed = 4.0F;
constexpr float kMaxNoise = 2.0F;
// These texts take about one second and about five.
constexpr char kWarmupPhrase[] = "Thank you very much.";
constexpr char kWarmupSentence[] =
    "The first sentence that is spoken should not take longer than all the others.";
constexpr float kWarmupStep = 1.14F;  // the least ratio between two ShapeBuckets is 8 / 7

absl::Status CheckNoise(const char* field, float value) {
  if (std::isfinite(value) && value <= kMaxNoise) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", value, " is not allowed; it is 0..",
                                                 kMaxNoise, ", or unset for the voice's own"));
}

class SpeechBatch final : public models::Batch {
 public:
  SpeechBatch(const VitsSynthesizer& synthesizer, int sample_rate,
              std::vector<models::Request*> requests)
      : synthesizer_(synthesizer),
        sample_rate_(sample_rate),
        requests_(std::move(requests)),
        results_(requests_.size()) {
    for (size_t i = 0; i < requests_.size(); ++i) latents_.emplace_back(std::nullopt);
    if (synthesizer_.decodes_elsewhere()) {
      for (size_t i = 0; i < requests_.size(); ++i) Encode(i);
    }
  }

  void Forward(runtime::WorkerContext& context) override {
    for (size_t i = 0; i < requests_.size(); ++i) {
      models::Request& request = *requests_[i];
      if (!synthesizer_.decodes_elsewhere()) Encode(i);
      if (!latents_[i].ok()) {
        results_[i] = latents_[i].status();
        continue;
      }
      if (*latents_[i]) synthesizer_.Begin(request, **latents_[i]);
      results_[i] = StateOf(request).decoding != nullptr ? synthesizer_.Decode(request, context)
                                                         : std::nullopt;
    }
  }

  void Complete() override {
    for (size_t i = 0; i < requests_.size(); ++i) {
      models::Request& request = *requests_[i];
      if (!results_[i].ok()) {
        request.Finish(results_[i].status());
        continue;
      }
      if (!*results_[i]) continue;  // cancelled, late or to be queued again: the queue handles it
      SpeechState& state = StateOf(request);
      std::vector<float>& samples = **results_[i];
      state.recorder.Add(samples);
      state.spoken += static_cast<int64_t>(samples.size()) / synthesizer_.hop();
      const bool finished = state.spoken == state.frames;
      models::SynthesizeOutput chunk =
          state.plan.TakeChunk(std::move(samples), sample_rate_, finished);
      if (finished || !chunk.samples.empty()) request.Emit(std::move(chunk));
      if (!finished) {
        request.AdvanceTo(state.plan.WorkLeft(static_cast<double>(state.spoken) /
                                              static_cast<double>(state.frames)));
        continue;
      }
      state.decoding.reset();
      const bool more = state.plan.Advance();
      request.AdvanceTo(state.plan.WorkLeft());
      if (!more) request.Finish(absl::OkStatus());
    }
  }

 private:
  // Encodes the unit of request i, which is not being decoded yet.
  void Encode(size_t i) {
    if (StateOf(*requests_[i]).decoding == nullptr)
      latents_[i] = synthesizer_.Encode(*requests_[i]);
  }

  const VitsSynthesizer& synthesizer_;
  const int sample_rate_;
  const std::vector<models::Request*> requests_;
  std::vector<absl::StatusOr<std::optional<VitsSynthesizer::Latents>>> latents_;  // nullopt: none
  std::vector<absl::StatusOr<std::optional<std::vector<float>>>> results_;  // nullopt: not spoken
};

class LoadedVits final : public models::Model {
 public:
  LoadedVits(models::ModelInfo info, VoiceConfig voice, std::vector<Speaker> speakers,
             std::unique_ptr<const models::Phonemizer> phonemizer, VitsSynthesizer::Network network,
             const VitsOptions& options)
      : info_(std::move(info)),
        voice_(std::move(voice)),
        synthesizer_(info_, voice_, std::move(speakers), std::move(network)),
        reader_(voice_, std::move(phonemizer)),
        pauses_(options.pauses),
        cache_(options.cache),
        shapes_(options.shapes) {}

  const models::ModelInfo& info() const override { return info_; }
  absl::Status Validate(const models::Input& input) const override;
  double EstimateWork(const models::Input& input) const override {
    return speech::EstimateWork(std::get<models::SynthesizeInput>(input));
  }
  std::unique_ptr<models::Batch> Prepare(std::span<models::Request* const> requests) const override;
  std::vector<models::Input> WarmupInputs() const override;

 private:
  absl::Status CheckVoice(std::string_view name) const;
  // Emits the request's current unit if it is cached; returns false if it is not.
  bool EmitCached(models::Request& request) const;

  const models::ModelInfo info_;
  const VoiceConfig voice_;
  const VitsSynthesizer synthesizer_;
  const VitsReader reader_;
  const models::SpeechPauses pauses_;
  const speech::SpeechCache::ForModel cache_;
  const models::ShapePolicy shapes_;
};

absl::Status LoadedVits::Validate(const models::Input& input) const {
  const auto* speech = std::get_if<models::SynthesizeInput>(&input);
  if (speech == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("model '", info_.name, "' synthesizes speech and does nothing else"));
  }
  if (absl::Status status = speech::CheckSpeech(*speech, info_, reader_); !status.ok())
    return status;
  if (absl::Status status = CheckVoice(speech->voice); !status.ok()) return status;
  for (const models::SpeechPart& part : speech->markup.parts) {
    if (absl::Status status = CheckVoice(part.manner.voice); !status.ok()) return status;
  }
  if (absl::Status status = speech::CheckSpeed(*speech, info_.speech()); !status.ok())
    return status;
  if (absl::Status status = CheckNoise("noise_scale", speech->noise_scale); !status.ok())
    return status;
  return CheckNoise("noise_w", speech->noise_w);
}

absl::Status LoadedVits::CheckVoice(std::string_view name) const {
  if (FindSpeaker(synthesizer_.speakers(), name) != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("voice: model '", info_.name, "' has no voice ", Shown(name),
             "; it has: ", absl::StrJoin(info_.speech().voices, ", ")));
}

std::unique_ptr<models::Batch> LoadedVits::Prepare(
    std::span<models::Request* const> requests) const {
  std::vector<models::Request*> ready;
  for (models::Request* request : requests) {
    if (request->state() == nullptr) {
      request->set_state(std::make_unique<SpeechState>(
          std::get<models::SynthesizeInput>(request->input()), pauses_, synthesizer_.hop(),
          info_.speech().sample_rate, cache_));
      request->EstimateWorkLeft(StateOf(*request).plan.WorkLeft());
    }
    speech::SpeechPlan& plan = StateOf(*request).plan;
    if (speech::PrepareUncached(*request, plan, reader_, [&] { return EmitCached(*request); }))
      ready.push_back(request);
  }
  if (ready.empty()) return nullptr;
  return std::make_unique<SpeechBatch>(synthesizer_, info_.speech().sample_rate, std::move(ready));
}

bool LoadedVits::EmitCached(models::Request& request) const {
  SpeechState& state = StateOf(request);
  if (!state.recorder.on() || state.decoding != nullptr) return false;
  const auto known = state.recorder.Find(synthesizer_.UnitOf(request));
  if (known == nullptr) return false;
  const int64_t hop = synthesizer_.hop();
  state.plan.SetFrames(known->frames, hop);
  state.frames = static_cast<int64_t>(known->samples.size()) / hop;
  state.spoken = 0;
  // A listener gets the chunks of a unit that is spoken, because its times depend on them.
  const bool streamed = std::get<models::SynthesizeInput>(request.input()).streamed &&
                        !synthesizer_.decodes_elsewhere();
  for (auto from = known->samples.begin(); from != known->samples.end();) {
    const int64_t frames = state.NextChunk(streamed);
    state.spoken += frames;
    const auto to = from + frames * hop;
    const bool finished = state.spoken == state.frames;
    models::SynthesizeOutput chunk =
        state.plan.TakeChunk({from, to}, info_.speech().sample_rate, finished);
    if (finished || !chunk.samples.empty()) request.Emit(std::move(chunk));
    from = to;
  }
  return true;
}

std::vector<models::Input> LoadedVits::WarmupInputs() const {
  const auto speech = [](std::string text) {
    models::SynthesizeInput input;
    input.text = std::move(text);
    input.use_cache = false;
    return models::Input(std::move(input));
  };
  std::vector<models::Input> inputs = {speech("One.")};
  if (shapes_ == models::ShapePolicy::kExact) return inputs;
  inputs.push_back(speech(kWarmupSentence));
  if (shapes_ != models::ShapePolicy::kFew) return inputs;
  // Covers, at every speed, about each length from half a second to ten, with words spoken as
  // evenly as possible.
  for (const char* text : {kWarmupPhrase, kWarmupSentence}) {
    for (float speed = 0.5F; speed < kMaxSpeed; speed *= kWarmupStep) {
      inputs.push_back(speech(text));
      std::get<models::SynthesizeInput>(inputs.back()).speed = speed;
      std::get<models::SynthesizeInput>(inputs.back()).noise_w = 0;
    }
  }
  return inputs;
}

}  // namespace

absl::StatusOr<std::unique_ptr<models::Model>> VitsModel::Load(const VitsOptions& options,
                                                               models::ModelInfo info) {
  const at::InferenceMode inference;
  auto voice = VoiceConfig::Read(options.voice_file);
  if (!voice.ok()) return voice.status();
  const at::Device device = speech::ToAten(options.device);
  auto weights = VitsWeights::Open(options.weights_file, at::kCPU);
  if (!weights.ok()) return weights.status();
  // The encoder always runs on the CPU: it does little work, and its result decides how much work
  // follows.
  auto encoder = std::make_unique<VitsEncoder>(*weights);
  if (!weights->status().ok()) return weights->status();
  auto decoder_weights = VitsWeights::Open(options.weights_file, device);
  if (!decoder_weights.ok()) return decoder_weights.status();
  std::unique_ptr<VitsDecoder> decoder = MakeVitsDecoder(
      *decoder_weights, encoder->latent(), device, absl::StrCat(info.name, "/", info.version));
  if (!decoder_weights->status().ok()) return decoder_weights->status();
  if (voice->largest_id() >= encoder->symbols()) {
    return absl::DataLossError(absl::StrCat(options.voice_file.string(),
                                            ": phoneme_id_map has the id ", voice->largest_id(),
                                            ", the weights know ", encoder->symbols(), " symbols"));
  }
  std::vector<Speaker> speakers = ListSpeakers(*voice, options.voice);
  for (const Speaker& speaker : speakers) {
    if (speaker.id >= 0 && speaker.id < encoder->speakers()) continue;
    return absl::DataLossError(
        absl::StrCat(options.voice_file.string(), ": speaker '", speaker.name, "' has the id ",
                     speaker.id, ", the weights know ", encoder->speakers(), " speakers"));
  }
  models::Phonemizer::Options text;
  text.program = options.espeak_program;
  text.voice = voice->espeak_voice;
  text.max_processes = options.max_espeak_processes;
  text.timeout = options.espeak_timeout;
  auto phonemizer = models::Phonemizer::Create(text);
  if (!phonemizer.ok()) return phonemizer.status();

  info.platform = "vits";
  auto& speech = info.details.emplace<models::SpeechInfo>();
  speech.language = options.language;
  speech.languages = {options.language};
  speech.sample_rate = voice->sample_rate;
  speech.min_speed = kMinSpeed;
  speech.max_speed = kMaxSpeed;
  for (const Speaker& speaker : speakers) speech.voices.push_back(speaker.name);
  speech.voice_languages.assign(speech.voices.size(), options.language);
  return std::make_unique<LoadedVits>(
      std::move(info), *std::move(voice), std::move(speakers), *std::move(phonemizer),
      VitsSynthesizer::Network{.encoder = std::move(encoder),
                               .decoder = std::move(decoder),
                               .hop = weights->shape().hop(),
                               .gain_db = options.gain_db,
                               .decodes_elsewhere = options.device != runtime::DeviceType::kCpu},
      options);
}

}  // namespace millrace::vits
