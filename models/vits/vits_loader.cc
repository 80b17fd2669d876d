#include <ATen/core/grad_mode.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/kernels/precision.h"
#include "models/kernels/target.h"
#include "models/speech/speech_model.h"
#include "models/speech/voice_precision.h"
#include "models/text/phonemizer.h"
#include "models/vits/aten_vits_decoder.h"
#include "models/vits/aten_vits_encoder.h"
#include "models/vits/speakers.h"
#include "models/vits/vits_batch.h"
#include "models/vits/vits_decoder.h"
#include "models/vits/vits_encoder.h"
#include "models/vits/vits_kind.h"
#include "models/vits/vits_voice.h"
#include "models/vits/vits_weights.h"
#include "models/vits/voice_config.h"
#include "mps_runtime/device_traits.h"
#include "mps_runtime/tensor_device.h"

namespace millrace::vits {
namespace {

constexpr float kMinSpeed = 0.25F;

struct ReadVoice {
  VitsVoice::Network voice;
  int64_t symbols = 0;  // the number that the weights know, as of speakers
  int64_t speakers = 0;
};

// Reads the network that speaks in batches.
absl::StatusOr<ReadVoice> ReadBatch(VitsWeights weights, double length_scale, std::string name) {
  auto encoder = std::make_unique<AtenVitsEncoder>(weights);
  if (!weights.status().ok()) return weights.status();
  auto decoder = std::make_unique<AtenVitsDecoder>(weights, encoder->latent(), name);
  if (!weights.status().ok()) return weights.status();
  ReadVoice read{.voice = {.hop = weights.shape().hop(), .decodes_elsewhere = true},
                 .symbols = encoder->symbols(),
                 .speakers = encoder->speakers()};
  read.voice.batch = std::make_unique<VitsBatch>(std::move(encoder), std::move(decoder),
                                                 length_scale, std::move(name));
  return read;
}

// name: the model's in the graph caches. finite: weights that are not are refused. Errors name the
// file and the tensor.
absl::StatusOr<ReadVoice> ReadNetwork(const std::filesystem::path& file,
                                      const models::LoadContext& context, double length_scale,
                                      std::string name, kernels::Precision precision, bool finite) {
  const at::Device device = runtime::TensorDevice(context.device);
  // A device that compiles each shape runs the decoder only: the encoder would add many.
  const bool in_batches = context.shapes != models::ShapePolicy::kExact &&
                          !runtime::TraitsOf(context.device).compiles_shapes;
  MILLRACE_ASSIGN_OR_RETURN(auto weights, VitsWeights::Open(file, in_batches ? device : at::kCPU));
  if (in_batches) return ReadBatch(std::move(weights), length_scale, std::move(name));
  if (finite) weights.RequireFinite();
  auto encoder = std::make_unique<VitsEncoder>(weights);
  if (!weights.status().ok()) return weights.status();
  MILLRACE_ASSIGN_OR_RETURN(auto decoder_weights, VitsWeights::Open(file, device));
  if (finite) decoder_weights.RequireFinite();
  auto decoder =
      MakeVitsDecoder(decoder_weights, encoder->latent(), device, std::move(name), precision);
  if (!decoder_weights.status().ok()) return decoder_weights.status();
  ReadVoice read{.voice = {.hop = weights.shape().hop(),
                           .decodes_elsewhere = context.device != runtime::DeviceType::kCpu},
                 .symbols = encoder->symbols(),
                 .speakers = encoder->speakers()};
  read.voice.encoder = std::move(encoder);
  read.voice.decoder = std::move(decoder);
  return read;
}

// Starts espeak-ng once, if the voice needs it. Errors name the file or the program and what is
// wrong with it.
absl::StatusOr<std::unique_ptr<models::Model>> Load(const models::KindConfig& kind_config,
                                                    const models::LoadContext& context,
                                                    models::ModelInfo info) {
  const at::InferenceMode inference;
  const auto& config = static_cast<const VitsConfig&>(kind_config);
  const std::filesystem::path voice_file = context.folder / config.voice_file;
  const std::filesystem::path weights_file = context.folder / config.file;
  // With AMX int8 was measured at 1.1 times the speed of float32.
  MILLRACE_ASSIGN_OR_RETURN(
      const auto precision,
      speech::ChoosePrecision(config.precision, context, info.name,
                              {kernels::Target::kAvx512Vnni, kernels::Target::kAvxVnni}));
  MILLRACE_ASSIGN_OR_RETURN(auto voice, VoiceConfig::Read(voice_file));
  MILLRACE_ASSIGN_OR_RETURN(
      auto network,
      ReadNetwork(weights_file, context, voice.length_scale, StrCat(info.name, "/", info.version),
                  precision, config.precision.asked == kernels::Precision::kInt8));
  if (voice.largest_id() >= network.symbols) {
    return DataLoss(voice_file.string(), ": phoneme_id_map has the id ", voice.largest_id(),
                    ", the weights know ", network.symbols, " symbols");
  }
  std::vector<Speaker> speakers = ListSpeakers(voice, config.voice);
  for (const Speaker& speaker : speakers) {
    if (speaker.id >= 0 && speaker.id < network.speakers) continue;
    return DataLoss(voice_file.string(), ": speaker '", speaker.name, "' has the id ", speaker.id,
                    ", the weights know ", network.speakers, " speakers");
  }
  network.voice.gain_db = config.gain_db;
  std::unique_ptr<const models::Phonemizer> phonemizer;
  if (!voice.reads_letters) {
    MILLRACE_ASSIGN_OR_RETURN(
        phonemizer,
        models::Phonemizer::Create({.espeak = context.espeak, .voice = voice.espeak_voice}));
  }

  info.platform = "vits";
  auto& speech = info.details.emplace<models::SpeechInfo>();
  speech.language = config.language;
  speech.languages = {config.language};
  speech.sample_rate = voice.sample_rate;
  speech.min_speed = kMinSpeed;
  speech.max_speed = VitsVoice::kMaxSpeed;
  speech.precision = speech::NameOf(precision);
  speech.int8_distance_db = config.precision.int8_distance_db;
  for (const Speaker& speaker : speakers) speech.voices.push_back(speaker.name);
  speech.voice_languages.assign(speech.voices.size(), config.language);
  if (network.voice.batch != nullptr && context.max_batch == 0 &&
      runtime::TraitsOf(context.device).large_batches)
    info.batching.max_batch = VitsBatch::kMaxSentences;
  return speech::MakeSpeechModel(
      std::make_unique<VitsVoice>(std::move(info), std::move(voice), std::move(speakers),
                                  std::move(phonemizer), std::move(network.voice), context.shapes),
      config.pauses, context);
}

}  // namespace

const models::ModelLoader kLoader = {&kKind, &Load};

}  // namespace millrace::vits
