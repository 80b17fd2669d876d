#include <ATen/core/grad_mode.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "models/core/strings.h"
#include "models/speech/speech_model.h"
#include "models/text/phonemizer.h"
#include "models/vits/speakers.h"
#include "models/vits/vits_decoder.h"
#include "models/vits/vits_encoder.h"
#include "models/vits/vits_kind.h"
#include "models/vits/vits_voice.h"
#include "models/vits/vits_weights.h"
#include "models/vits/voice_config.h"
#include "mps_runtime/tensor_device.h"

namespace millrace::vits {
namespace {

constexpr float kMinSpeed = 0.25F;

// Starts espeak-ng once, if the voice needs it. Errors name the file or the program and what is
// wrong with it.
absl::StatusOr<std::unique_ptr<models::Model>> Load(const models::KindConfig& kind_config,
                                                    const models::LoadContext& context,
                                                    models::ModelInfo info) {
  const at::InferenceMode inference;
  const auto& config = static_cast<const VitsConfig&>(kind_config);
  const std::filesystem::path voice_file = context.folder / config.voice_file;
  const std::filesystem::path weights_file = context.folder / config.file;
  auto voice = VoiceConfig::Read(voice_file);
  if (!voice.ok()) return voice.status();
  const at::Device device = runtime::TensorDevice(context.device);
  auto weights = VitsWeights::Open(weights_file, at::kCPU);
  if (!weights.ok()) return weights.status();
  // The encoder always runs on the CPU: it does little work, and its result decides how much work
  // follows.
  auto encoder = std::make_unique<VitsEncoder>(*weights);
  if (!weights->status().ok()) return weights->status();
  auto decoder_weights = VitsWeights::Open(weights_file, device);
  if (!decoder_weights.ok()) return decoder_weights.status();
  std::unique_ptr<VitsDecoder> decoder = MakeVitsDecoder(
      *decoder_weights, encoder->latent(), device, StrCat(info.name, "/", info.version));
  if (!decoder_weights->status().ok()) return decoder_weights->status();
  if (voice->largest_id() >= encoder->symbols()) {
    return absl::DataLossError(StrCat(voice_file.string(), ": phoneme_id_map has the id ",
                                      voice->largest_id(), ", the weights know ",
                                      encoder->symbols(), " symbols"));
  }
  std::vector<Speaker> speakers = ListSpeakers(*voice, config.voice);
  for (const Speaker& speaker : speakers) {
    if (speaker.id >= 0 && speaker.id < encoder->speakers()) continue;
    return absl::DataLossError(StrCat(voice_file.string(), ": speaker '", speaker.name,
                                      "' has the id ", speaker.id, ", the weights know ",
                                      encoder->speakers(), " speakers"));
  }
  std::unique_ptr<const models::Phonemizer> phonemizer;
  if (!voice->reads_letters) {
    auto espeak =
        models::Phonemizer::Create({.espeak = context.espeak, .voice = voice->espeak_voice});
    if (!espeak.ok()) return espeak.status();
    phonemizer = *std::move(espeak);
  }

  info.platform = "vits";
  auto& speech = info.details.emplace<models::SpeechInfo>();
  speech.language = config.language;
  speech.languages = {config.language};
  speech.sample_rate = voice->sample_rate;
  speech.min_speed = kMinSpeed;
  speech.max_speed = VitsVoice::kMaxSpeed;
  for (const Speaker& speaker : speakers) speech.voices.push_back(speaker.name);
  speech.voice_languages.assign(speech.voices.size(), config.language);
  return speech::MakeSpeechModel(
      std::make_unique<VitsVoice>(
          std::move(info), *std::move(voice), std::move(speakers), std::move(phonemizer),
          VitsVoice::Network{.encoder = std::move(encoder),
                             .decoder = std::move(decoder),
                             .hop = weights->shape().hop(),
                             .gain_db = config.gain_db,
                             .decodes_elsewhere = context.device != runtime::DeviceType::kCpu},
          context.shapes),
      config.pauses, context);
}

}  // namespace

const models::ModelLoader kLoader = {&kKind, &Load};

}  // namespace millrace::vits
