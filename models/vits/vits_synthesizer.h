#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/model_info.h"
#include "models/core/payload.h"
#include "models/core/request.h"
#include "models/speech/speech_cache.h"
#include "models/vits/speakers.h"
#include "models/vits/vits_decoder.h"
#include "models/vits/vits_encoder.h"
#include "models/vits/voice_config.h"
#include "mps_runtime/worker_context.h"

namespace millrace::vits {

// Speaks the current unit of a request (SpeechState), a chunk in each step. Refers to the
// description of the model and to its voice, which must outlive it. Immutable: any number of
// threads may call it, each with its own context and requests.
class VitsSynthesizer {
 public:
  // The loaded network of a voice.
  struct Network {
    std::unique_ptr<VitsEncoder> encoder;
    std::unique_ptr<VitsDecoder> decoder;
    int64_t hop = 0;                 // samples of a frame
    float gain_db = 0;               // applied to its samples
    bool decodes_elsewhere = false;  // the decoder does not run on the CPU
  };
  // speakers: at least one; the first is the default.
  VitsSynthesizer(const models::ModelInfo& info, const VoiceConfig& voice,
                  std::vector<Speaker> speakers, Network network);

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
  // Returns what the audio of the request's current unit depends on.
  speech::UnitInput UnitOf(models::Request& request) const;
  int64_t hop() const { return network_.hop; }
  // Returns true if the decoder does not run on the CPU, so that encoding needs no permit.
  bool decodes_elsewhere() const { return network_.decodes_elsewhere; }

  const std::vector<Speaker>& speakers() const { return speakers_; }

 private:
  float NoiseScale(const models::SynthesizeInput& input) const {
    return input.noise_scale < 0 ? voice_.noise_scale : input.noise_scale;
  }
  float NoiseW(const models::SynthesizeInput& input) const {
    return input.noise_w < 0 ? voice_.noise_w : input.noise_w;
  }

  const models::ModelInfo& info_;
  const VoiceConfig& voice_;
  const std::vector<Speaker> speakers_;
  const Network network_;
};

}  // namespace millrace::vits
