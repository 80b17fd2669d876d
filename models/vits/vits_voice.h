#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/model_info.h"
#include "models/core/payload.h"
#include "models/core/request.h"
#include "models/core/shape_policy.h"
#include "models/speech/speech_cache.h"
#include "models/speech/speech_reader.h"
#include "models/speech/voice.h"
#include "models/text/phonemizer.h"
#include "models/vits/speakers.h"
#include "models/vits/vits_batch.h"
#include "models/vits/vits_decoder.h"
#include "models/vits/vits_encoder.h"
#include "models/vits/voice_config.h"
#include "mps_runtime/worker_context.h"

namespace millrace::vits {

// A Piper voice: text to speech by VITS, a sentence or a chunk of it in each step. Several requests
// are spoken at once if the network has a batch. Samples have one
// gain for the voice, and the peak of each sentence is not normalised, so that a quiet sentence
// stays quiet and a stream sounds like the whole.
class VitsVoice final : public speech::Voice {
 public:
  static constexpr float kMaxSpeed = 4.0F;

  // The loaded network of a voice: either encoder and decoder, or a batch.
  struct Network {
    std::unique_ptr<VitsEncoder> encoder = nullptr;
    std::unique_ptr<VitsDecoder> decoder = nullptr;
    std::unique_ptr<VitsBatch> batch = nullptr;
    int64_t hop = 0;                 // samples of a frame
    float gain_db = 0;               // applied to its samples
    bool decodes_elsewhere = false;  // the decoder does not run on the CPU
  };
  // speakers: at least one; the first is the default. phonemizer: null for a voice that reads
  // letters.
  VitsVoice(models::ModelInfo info, VoiceConfig config, std::vector<Speaker> speakers,
            std::unique_ptr<const models::Phonemizer> phonemizer, Network network,
            models::ShapePolicy shapes);

  const speech::SpeechReader& reader() const override { return *reader_; }
  absl::StatusOr<std::vector<speech::VoiceShare>> SharesOf(std::string_view voice) const override;
  absl::Status CheckNoise(const models::SynthesizeInput& input) const override;
  void AddSettings(const models::SynthesizeInput& input, speech::UnitInput& unit) const override;
  // Encodes where only the decoder runs elsewhere, because the encoder needs no permit.
  absl::StatusOr<bool> PrepareUnit(models::Request& request) const override;
  Spoken SpeakAlone(models::Request& request, runtime::WorkerContext& context) const override;
  std::vector<Spoken> Speak(std::span<models::Request* const> requests,
                            runtime::WorkerContext& context) const override;
  std::vector<models::SynthesizeInput> WarmupInputs() const override;
  std::vector<size_t> WarmupBatches() const override;

 private:
  // Makes the decoder's input for a unit; results are those of PrepareUnit.
  absl::StatusOr<bool> Encode(models::Request& request) const;
  VitsBatch::Sentence SentenceOf(models::Request& request) const;
  float NoiseScale(const models::SynthesizeInput& input) const {
    return input.noise_scale < 0 ? config_.noise_scale : input.noise_scale;
  }
  float NoiseW(const models::SynthesizeInput& input) const {
    return input.noise_w < 0 ? config_.noise_w : input.noise_w;
  }

  const VoiceConfig config_;
  const std::vector<Speaker> speakers_;
  const std::unique_ptr<const speech::SpeechReader> reader_;
  const Network network_;
  const models::ShapePolicy shapes_;
};

}  // namespace millrace::vits
