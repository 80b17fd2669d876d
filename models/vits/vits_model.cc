#include "models/vits/vits_model.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
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
#include "models/speech/noise.h"
#include "models/speech/speech_check.h"
#include "models/speech/speech_plan.h"
#include "models/speech/unit_recorder.h"
#include "models/speech/voice_level.h"
#include "models/text/phonemizer.h"
#include "models/vits/frame_scaling.h"
#include "models/vits/vits_decoder.h"
#include "models/vits/vits_encoder.h"
#include "models/vits/vits_reader.h"
#include "models/vits/vits_weights.h"
#include "models/vits/voice_config.h"

namespace millrace::vits {
namespace {

constexpr float kMinSpeed = 0.25F;
constexpr float kMaxSpeed = 4.0F;
constexpr float kMaxNoise = 2.0F;
constexpr int64_t kMaxUnitSeconds = 300;
// These texts take about one second and about five.
constexpr char kWarmupPhrase[] = "Thank you very much.";
constexpr char kWarmupSentence[] =
    "The first sentence that is spoken should not take longer than all the others.";
constexpr float kWarmupStep = 1.14F;  // the least ratio between two ShapeBuckets is 8 / 7
// Chunks of a streamed unit: a third of a second first, then longer ones up to about four seconds.
constexpr int64_t kFirstChunkFrames = 32;
constexpr int64_t kChunkFrames = 384;
constexpr uint64_t kDurationStream = 0;  // streams of a sentence's noise
constexpr uint64_t kLatentStream = 1;

// The units of a request that are left to speak.
struct SpeechState final : models::RequestState {
  SpeechState(const models::SynthesizeInput& input, const models::SpeechPauses& pauses, int64_t hop,
              int sample_rate, const speech::SpeechCache::ForModel& cache)
      : tail_frames(std::lround(kFirstChunkFrames / std::min(speech::SlowestSpeed(input), 1.0F))),
        plan(input, {.lead_samples = static_cast<size_t>(kFirstChunkFrames * hop),
                     .tail_samples = static_cast<size_t>(tail_frames * hop),
                     .pauses = pauses,
                     .sample_rate = sample_rate}),
        recorder(input.use_cache ? cache : speech::SpeechCache::ForModel()) {}

  // Returns the number of frames of the unit that the next step speaks.
  int64_t NextChunk(bool streamed) const {
    const int64_t rest = frames - spoken;
    if (!streamed) return rest;
    // The next chunk is as long as the audio that the listener already has.
    const int64_t chunk = std::clamp(spoken, kFirstChunkFrames, kChunkFrames);
    return rest < chunk + tail_frames ? rest : chunk;
  }

  const int64_t tail_frames;  // of the last chunk at least: slow speech ends slowly
  speech::SpeechPlan plan;
  speech::UnitRecorder recorder;
  std::unique_ptr<VitsDecoder::Decoding> decoding;  // of the current unit; null: not begun
  int64_t frames = 0;                               // of that decoding
  int64_t spoken = 0;                               // how many of them were emitted
};

struct Speaker {
  std::string name;
  int64_t id = 0;
};

absl::Status CheckNoise(const char* field, float value) {
  if (std::isfinite(value) && value <= kMaxNoise) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", value, " is not allowed; it is 0..",
                                                 kMaxNoise, ", or unset for the voice's own"));
}

std::vector<float> MakeNoise(uint64_t seed, size_t unit, uint64_t stream, size_t count) {
  std::vector<float> noise(count);
  speech::NoiseSource(seed, 2 * static_cast<uint64_t>(unit) + stream).Fill(noise);
  return noise;
}

class LoadedVits final : public models::Model {
 public:
  LoadedVits(models::ModelInfo info, VoiceConfig voice, std::vector<Speaker> speakers,
             std::unique_ptr<const models::Phonemizer> phonemizer,
             std::unique_ptr<VitsEncoder> encoder, std::unique_ptr<VitsDecoder> decoder,
             int64_t hop, const VitsOptions& options)
      : info_(std::move(info)),
        voice_(std::move(voice)),
        speakers_(std::move(speakers)),
        reader_(voice_, std::move(phonemizer)),
        encoder_(std::move(encoder)),
        decoder_(std::move(decoder)),
        hop_(hop),
        gain_db_(options.gain_db),
        pauses_(options.pauses),
        cache_(options.cache),
        decodes_elsewhere_(options.device != runtime::DeviceType::kCpu),
        few_shapes_(options.shapes == models::ShapePolicy::kFew) {}

  const models::ModelInfo& info() const override { return info_; }
  absl::Status Validate(const models::Input& input) const override;
  double EstimateWork(const models::Input& input) const override {
    return speech::EstimateWork(std::get<models::SynthesizeInput>(input));
  }
  std::unique_ptr<models::Batch> Prepare(std::span<models::Request* const> requests) const override;
  std::vector<models::Input> WarmupInputs() const override;

  // The decoder's input for a request's next unit.
  struct Latents {
    Latents() = default;
    Latents(Latents&&) = default;  // only moved, because input refers to noise
    Latents& operator=(Latents&&) = default;

    std::vector<float> noise;
    VitsDecoder::Input input;
  };
  // Returns nullopt when the unit was too long and its halves come first. An error ends the
  // request.
  absl::StatusOr<std::optional<Latents>> Encode(models::Request& request) const;
  // Begins the decoding of a request's unit.
  void Begin(models::Request& request, const Latents& latents) const;
  // Returns the samples of the unit's next chunk; nullopt when the request was to stop meanwhile.
  std::optional<std::vector<float>> Decode(models::Request& request,
                                           runtime::WorkerContext& context) const;
  int64_t hop() const { return hop_; }
  // Returns true if the decoder does not run on the CPU, so that encoding needs no permit.
  bool decodes_elsewhere() const { return decodes_elsewhere_; }

 private:
  absl::Status CheckVoice(std::string_view name) const;
  // Emits the request's current unit if it is cached; returns false if it is not.
  bool EmitCached(models::Request& request) const;
  // Returns what the audio of the request's current unit depends on.
  speech::UnitInput UnitOf(models::Request& request) const;
  float NoiseScale(const models::SynthesizeInput& input) const {
    return input.noise_scale < 0 ? voice_.noise_scale : input.noise_scale;
  }
  float NoiseW(const models::SynthesizeInput& input) const {
    return input.noise_w < 0 ? voice_.noise_w : input.noise_w;
  }
  const Speaker* FindSpeaker(std::string_view name) const;
  const models::ModelInfo info_;
  const VoiceConfig voice_;
  const std::vector<Speaker> speakers_;  // the first is the default
  const VitsReader reader_;
  const std::unique_ptr<VitsEncoder> encoder_;
  const std::unique_ptr<VitsDecoder> decoder_;
  const int64_t hop_;  // samples of a frame
  const float gain_db_;
  const models::SpeechPauses pauses_;
  const speech::SpeechCache::ForModel cache_;
  const bool decodes_elsewhere_;
  const bool few_shapes_;  // the lengths that are decoded are known before the first request
};

class SpeechBatch final : public models::Batch {
 public:
  SpeechBatch(const LoadedVits& model, std::vector<models::Request*> requests)
      : model_(model), requests_(std::move(requests)), results_(requests_.size()) {
    for (size_t i = 0; i < requests_.size(); ++i) latents_.emplace_back(std::nullopt);
    if (model_.decodes_elsewhere()) {
      for (size_t i = 0; i < requests_.size(); ++i) Encode(i);
    }
  }

  void Forward(runtime::WorkerContext& context) override {
    for (size_t i = 0; i < requests_.size(); ++i) {
      models::Request& request = *requests_[i];
      if (!model_.decodes_elsewhere()) Encode(i);
      if (!latents_[i].ok()) {
        results_[i] = latents_[i].status();
        continue;
      }
      if (*latents_[i]) model_.Begin(request, **latents_[i]);
      results_[i] =
          StateOf(request).decoding != nullptr ? model_.Decode(request, context) : std::nullopt;
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
      state.spoken += static_cast<int64_t>(samples.size()) / model_.hop();
      const bool finished = state.spoken == state.frames;
      request.Emit(
          state.plan.TakeChunk(std::move(samples), model_.info().speech().sample_rate, finished));
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
  static SpeechState& StateOf(models::Request& request) {
    return static_cast<SpeechState&>(*request.state());
  }
  // Encodes the unit of request i, which is not being decoded yet.
  void Encode(size_t i) {
    if (StateOf(*requests_[i]).decoding == nullptr) latents_[i] = model_.Encode(*requests_[i]);
  }

  const LoadedVits& model_;
  const std::vector<models::Request*> requests_;
  std::vector<absl::StatusOr<std::optional<LoadedVits::Latents>>> latents_;  // nullopt: none
  std::vector<absl::StatusOr<std::optional<std::vector<float>>>> results_;   // nullopt: not spoken
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
  if (FindSpeaker(name) != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("voice: model '", info_.name, "' has no voice ", Shown(name),
             "; it has: ", absl::StrJoin(info_.speech().voices, ", ")));
}

const Speaker* LoadedVits::FindSpeaker(std::string_view name) const {
  if (name.empty()) return &speakers_.front();
  const auto found = std::find_if(speakers_.begin(), speakers_.end(),
                                  [&](const Speaker& s) { return s.name == name; });
  return found == speakers_.end() ? nullptr : &*found;
}

std::unique_ptr<models::Batch> LoadedVits::Prepare(
    std::span<models::Request* const> requests) const {
  std::vector<models::Request*> ready;
  for (models::Request* request : requests) {
    if (request->state() == nullptr) {
      request->set_state(
          std::make_unique<SpeechState>(std::get<models::SynthesizeInput>(request->input()),
                                        pauses_, hop_, info_.speech().sample_rate, cache_));
      request->EstimateWorkLeft(static_cast<SpeechState&>(*request->state()).plan.WorkLeft());
    }
    speech::SpeechPlan& plan = static_cast<SpeechState&>(*request->state()).plan;
    if (speech::PrepareUncached(*request, plan, reader_, [&] { return EmitCached(*request); }))
      ready.push_back(request);
  }
  if (ready.empty()) return nullptr;
  return std::make_unique<SpeechBatch>(*this, std::move(ready));
}

bool LoadedVits::EmitCached(models::Request& request) const {
  auto& state = static_cast<SpeechState&>(*request.state());
  if (!state.recorder.on() || state.decoding != nullptr) return false;
  const auto known = state.recorder.Find(UnitOf(request));
  if (known == nullptr) return false;
  state.plan.SetFrames(known->frames, hop_);
  state.frames = static_cast<int64_t>(known->samples.size()) / hop_;
  state.spoken = 0;
  // A listener gets the chunks of a unit that is spoken, because its times depend on them.
  const bool streamed =
      std::get<models::SynthesizeInput>(request.input()).streamed && !decodes_elsewhere_;
  for (auto from = known->samples.begin(); from != known->samples.end();) {
    const int64_t frames = state.NextChunk(streamed);
    state.spoken += frames;
    const auto to = from + frames * hop_;
    request.Emit(
        state.plan.TakeChunk({from, to}, info_.speech().sample_rate, state.spoken == state.frames));
    from = to;
  }
  return true;
}

speech::UnitInput LoadedVits::UnitOf(models::Request& request) const {
  const auto& input = std::get<models::SynthesizeInput>(request.input());
  const speech::SpeechPlan& plan = static_cast<SpeechState&>(*request.state()).plan;
  speech::UnitInput unit{.ids = plan.ids(),
                         .voices = {{.voice = static_cast<size_t>(FindSpeaker(plan.voice())->id)}},
                         .speed = plan.speed(),
                         .noise_scale = NoiseScale(input),
                         .noise_w = NoiseW(input)};
  // Without noise a unit sounds the same wherever it stands.
  if (unit.noise_scale > 0 || unit.noise_w > 0) {
    unit.seed = input.seed;
    unit.place = input.first_sentence + plan.spoken();
  }
  return unit;
}

absl::StatusOr<std::optional<LoadedVits::Latents>> LoadedVits::Encode(
    models::Request& request) const {
  const at::InferenceMode inference;
  const auto& input = std::get<models::SynthesizeInput>(request.input());
  speech::SpeechPlan& plan = static_cast<SpeechState&>(*request.state()).plan;
  const int64_t speaker = FindSpeaker(plan.voice())->id;

  const std::vector<float> rhythm = MakeNoise(input.seed, input.first_sentence + plan.spoken(),
                                              kDurationStream, 2 * plan.ids().size());
  VitsEncoder::Output encoded =
      encoder_->Forward(plan.ids(), rhythm, NoiseW(input), voice_.length_scale, speaker);
  const bool usable = std::ranges::all_of(
      encoded.frames, [](int64_t count) { return count >= 1 && count <= VitsEncoder::kMaxFrames; });
  if (!usable) {
    return absl::InternalError(
        absl::StrCat("model '", info_.name, "' gave a phoneme a length that is no number"));
  }
  // The network rounds each length up, which would be too much for shorter ones.
  encoded.frames = ScaleFrames(encoded.frames, plan.ids(), voice_.pad_ids.front(), plan.speed());
  const int64_t frames = std::accumulate(encoded.frames.begin(), encoded.frames.end(), int64_t{0});
  if (frames * hop_ > kMaxUnitSeconds * voice_.sample_rate) {
    if (plan.Halve()) return std::nullopt;
    return absl::InvalidArgumentError(absl::StrCat(
        plan.field(), ", speed, noise_w: one sentence would last ",
        frames * hop_ / voice_.sample_rate, " seconds, allowed are ", kMaxUnitSeconds));
  }
  plan.SetFrames(encoded.frames, hop_);
  Latents latents;
  latents.noise = MakeNoise(input.seed, input.first_sentence + plan.spoken(), kLatentStream,
                            static_cast<size_t>(frames * encoder_->latent()));
  latents.input.statistics = std::move(encoded.statistics);
  latents.input.frames = std::move(encoded.frames);
  latents.input.noise = latents.noise;
  latents.input.noise_scale = NoiseScale(input);
  latents.input.speaker = speaker;
  return latents;
}

void LoadedVits::Begin(models::Request& request, const Latents& latents) const {
  if (request.ShouldStop()) return;
  const at::InferenceMode inference;
  auto& state = static_cast<SpeechState&>(*request.state());
  state.decoding = decoder_->Start(latents.input);
  state.frames = latents.input.TotalFrames();
  state.spoken = 0;
  state.recorder.Begin(latents.input.frames, static_cast<size_t>(state.frames * hop_));
}

std::optional<std::vector<float>> LoadedVits::Decode(models::Request& request,
                                                     runtime::WorkerContext& context) const {
  const at::InferenceMode inference;
  if (request.ShouldStop()) return std::nullopt;
  const auto& state = static_cast<const SpeechState&>(*request.state());
  const bool streamed = std::get<models::SynthesizeInput>(request.input()).streamed;
  auto samples = state.decoding->Generate(
      state.spoken, state.NextChunk(streamed), [&request] { return request.ShouldStop(); },
      context);
  if (samples) speech::ApplyGain(gain_db_, *samples);
  return samples;
}

std::vector<models::Input> LoadedVits::WarmupInputs() const {
  const auto speech = [](std::string text) {
    models::SynthesizeInput input;
    input.text = std::move(text);
    input.use_cache = false;
    return models::Input(std::move(input));
  };
  std::vector<models::Input> inputs = {speech("One."), speech(kWarmupSentence)};
  if (!few_shapes_) return inputs;
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

std::vector<Speaker> ListSpeakers(const VoiceConfig& voice, const std::string& name) {
  std::vector<Speaker> speakers;
  for (const auto& [speaker, id] : voice.speaker_ids) speakers.push_back({speaker, id});
  std::sort(speakers.begin(), speakers.end(),
            [](const Speaker& a, const Speaker& b) { return a.id < b.id; });
  if (speakers.empty()) speakers.push_back({name, 0});
  return speakers;
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
  const int64_t hop = weights->shape().hop();
  return std::make_unique<LoadedVits>(std::move(info), *std::move(voice), std::move(speakers),
                                      *std::move(phonemizer), std::move(encoder),
                                      std::move(decoder), hop, options);
}

}  // namespace millrace::vits
