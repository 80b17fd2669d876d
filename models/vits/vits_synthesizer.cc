#include "models/vits/vits_synthesizer.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "models/speech/noise.h"
#include "models/speech/speech_plan.h"
#include "models/speech/voice_level.h"
#include "models/vits/speech_state.h"

namespace millrace::vits {
namespace {

constexpr int64_t kMaxUnitSeconds = 300;
constexpr uint64_t kDurationStream = 0;  // streams of a sentence's noise
constexpr uint64_t kLatentStream = 1;

std::vector<float> MakeNoise(uint64_t seed, size_t unit, uint64_t stream, size_t count) {
  std::vector<float> noise(count);
  speech::NoiseSource(seed, 2 * static_cast<uint64_t>(unit) + stream).Fill(noise);
  return noise;
}

}  // namespace

VitsSynthesizer::VitsSynthesizer(const models::ModelInfo& info, const VoiceConfig& voice,
                                 std::vector<Speaker> speakers, Network network)
    : info_(info), voice_(voice), speakers_(std::move(speakers)), network_(std::move(network)) {}

speech::UnitInput VitsSynthesizer::UnitOf(models::Request& request) const {
  const auto& input = std::get<models::SynthesizeInput>(request.input());
  const speech::SpeechPlan& plan = StateOf(request).plan;
  speech::UnitInput unit{
      .ids = plan.ids(),
      .voices = {{.voice = static_cast<size_t>(FindSpeaker(speakers_, plan.voice())->id)}},
      .speed = plan.network_speed(),
      .noise_scale = NoiseScale(input),
      .noise_w = NoiseW(input)};
  // Without noise a unit sounds the same wherever it stands.
  if (unit.noise_scale > 0 || unit.noise_w > 0) {
    unit.seed = input.seed;
    unit.place = input.first_sentence + plan.spoken();
  }
  return unit;
}

absl::StatusOr<std::optional<VitsSynthesizer::Latents>> VitsSynthesizer::Encode(
    models::Request& request) const {
  const at::InferenceMode inference;
  const auto& input = std::get<models::SynthesizeInput>(request.input());
  speech::SpeechPlan& plan = StateOf(request).plan;
  const int64_t speaker = FindSpeaker(speakers_, plan.voice())->id;

  const std::vector<float> rhythm = MakeNoise(input.seed, input.first_sentence + plan.spoken(),
                                              kDurationStream, 2 * plan.ids().size());
  VitsEncoder::Output encoded =
      network_.encoder->Forward(plan.ids(), rhythm, NoiseW(input), voice_.length_scale, speaker);
  const bool usable = std::ranges::all_of(
      encoded.frames, [](int64_t count) { return count >= 1 && count <= VitsEncoder::kMaxFrames; });
  if (!usable) {
    return absl::InternalError(
        absl::StrCat("model '", info_.name, "' gave a phoneme a length that is no number"));
  }
  // The network rounds each length up, which would be too much for shorter ones.
  encoded.frames = plan.ScaledFrames(encoded.frames);
  const int64_t frames = std::accumulate(encoded.frames.begin(), encoded.frames.end(), int64_t{0});
  if (frames * network_.hop > kMaxUnitSeconds * voice_.sample_rate) {
    if (plan.Halve()) return std::nullopt;
    return absl::InvalidArgumentError(absl::StrCat(
        plan.field(), ", speed, noise_w: one sentence would last ",
        frames * network_.hop / voice_.sample_rate, " seconds, allowed are ", kMaxUnitSeconds));
  }
  plan.SetFrames(encoded.frames, network_.hop);
  Latents latents;
  latents.noise = MakeNoise(input.seed, input.first_sentence + plan.spoken(), kLatentStream,
                            static_cast<size_t>(frames * network_.encoder->latent()));
  latents.input.statistics = std::move(encoded.statistics);
  latents.input.frames = std::move(encoded.frames);
  latents.input.noise = latents.noise;
  latents.input.noise_scale = NoiseScale(input);
  latents.input.speaker = speaker;
  return latents;
}

void VitsSynthesizer::Begin(models::Request& request, const Latents& latents) const {
  if (request.ShouldStop()) return;
  const at::InferenceMode inference;
  SpeechState& state = StateOf(request);
  state.decoding = network_.decoder->Start(latents.input);
  state.frames = latents.input.TotalFrames();
  state.spoken = 0;
  state.recorder.Begin(latents.input.frames, static_cast<size_t>(state.frames * network_.hop));
}

std::optional<std::vector<float>> VitsSynthesizer::Decode(models::Request& request,
                                                          runtime::WorkerContext& context) const {
  const at::InferenceMode inference;
  if (request.ShouldStop()) return std::nullopt;
  const SpeechState& state = StateOf(request);
  const bool streamed = std::get<models::SynthesizeInput>(request.input()).streamed;
  auto samples = state.decoding->Generate(
      state.spoken, state.NextChunk(streamed), [&request] { return request.ShouldStop(); },
      context);
  if (samples) speech::ApplyGain(network_.gain_db, *samples);
  return samples;
}

}  // namespace millrace::vits
