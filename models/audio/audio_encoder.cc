#include "models/audio/audio_encoder.h"

#include <utility>
#include <vector>

#include "models/audio/loudness.h"
#include "models/audio/pcm_encoder.h"
#include "models/audio/resampler.h"
#include "models/audio/sndfile_encoder.h"
#include "models/core/errors.h"

namespace millrace::models {
namespace {

// Multiplies the samples before it encodes.
class ScalingEncoder final : public AudioEncoder {
 public:
  ScalingEncoder(float factor, std::unique_ptr<AudioEncoder> encoder)
      : factor_(factor), encoder_(std::move(encoder)) {}

  std::string Push(std::span<const float> samples) override {
    scaled_.assign(samples.begin(), samples.end());
    for (float& sample : scaled_) sample *= factor_;
    return encoder_->Push(scaled_);
  }

  absl::StatusOr<std::string> Close() override { return encoder_->Close(); }

 private:
  const float factor_;
  const std::unique_ptr<AudioEncoder> encoder_;
  std::vector<float> scaled_;
};

// Resamples before it encodes.
class ResamplingEncoder final : public AudioEncoder {
 public:
  ResamplingEncoder(Resampler resampler, std::unique_ptr<AudioEncoder> encoder)
      : resampler_(std::move(resampler)), encoder_(std::move(encoder)) {}

  std::string Push(std::span<const float> samples) override {
    return encoder_->Push(resampler_.Push(samples));
  }

  absl::StatusOr<std::string> Close() override {
    std::string last = encoder_->Push(resampler_.Flush());
    absl::StatusOr<std::string> rest = encoder_->Close();
    if (!rest.ok()) return rest;
    return last + *rest;
  }

 private:
  Resampler resampler_;
  const std::unique_ptr<AudioEncoder> encoder_;
};

// Normalises the loudness before it encodes.
class NormalizingEncoder final : public AudioEncoder {
 public:
  NormalizingEncoder(LoudnessNormalizer normalizer, AudioContainer container,
                     std::unique_ptr<AudioEncoder> encoder)
      : normalizer_(std::move(normalizer)), container_(container), encoder_(std::move(encoder)) {}

  std::string Push(std::span<const float> samples) override {
    samples_.insert(samples_.end(), samples.begin(), samples.end());
    return container_ == AudioContainer::kStream ? Encode() : std::string();
  }

  absl::StatusOr<std::string> Close() override {
    std::string last = Encode();
    absl::StatusOr<std::string> rest = encoder_->Close();
    if (!rest.ok()) return rest;
    return last + *rest;
  }

 private:
  std::string Encode() {
    normalizer_.Apply(samples_);
    std::string bytes = encoder_->Push(samples_);
    samples_.clear();
    return bytes;
  }

  LoudnessNormalizer normalizer_;
  const AudioContainer container_;
  const std::unique_ptr<AudioEncoder> encoder_;
  std::vector<float> samples_;  // the whole file, until Close
};

absl::StatusOr<std::unique_ptr<AudioEncoder>> MakeEncoder(const AudioEncoderOptions& options) {
  switch (options.format) {
    case AudioFormat::kPcmS16:
    case AudioFormat::kPcmF32:
    case AudioFormat::kWav:
      return MakePcmEncoder(options.format, options.container, options.output_rate);
    case AudioFormat::kFlac:
    case AudioFormat::kMp3:
    case AudioFormat::kOggOpus:
    case AudioFormat::kMuLaw:
    case AudioFormat::kALaw:
      break;
  }
  return MakeSndfileEncoder(options.format, options.container, options.output_rate);
}

}  // namespace

absl::StatusOr<std::unique_ptr<AudioEncoder>> MakeAudioEncoder(const AudioEncoderOptions& options) {
  auto encoder = MakeEncoder(options);
  if (encoder.ok() && options.volume != 1)
    encoder = std::make_unique<ScalingEncoder>(options.volume, *std::move(encoder));
  if (encoder.ok() && options.input_rate != options.output_rate) {
    MILLRACE_ASSIGN_OR_RETURN(auto resampler,
                              Resampler::Make(options.input_rate, options.output_rate));
    encoder = std::make_unique<ResamplingEncoder>(std::move(resampler), *std::move(encoder));
  }
  if (encoder.ok() && options.normalize_loudness) {
    MILLRACE_ASSIGN_OR_RETURN(auto normalizer, LoudnessNormalizer::Make(options.input_rate));
    encoder = std::make_unique<NormalizingEncoder>(std::move(normalizer), options.container,
                                                   *std::move(encoder));
  }
  return encoder;
}

}  // namespace millrace::models
