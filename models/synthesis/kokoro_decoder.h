#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "models/synthesis/kokoro_encoder.h"
#include "models/synthesis/kokoro_generator.h"
#include "models/synthesis/kokoro_layers.h"
#include "models/synthesis/kokoro_weights.h"

namespace millrace::models {

// The second half of Kokoro: what the encoder gave, at its lengths, to samples. On the device of
// the weights; one sentence at a time, over its whole length: the style norms look at all of it.
// Immutable: any number of threads may call it.
class KokoroDecoder {
 public:
  // Errors are kept in weights.status().
  KokoroDecoder(KokoroWeights& weights, int sample_rate);

  int64_t style_channels() const { return style_; }  // of each half of a voice's style
  int64_t noise_per_sample() const { return generator_.sines(); }

  // How high and how loud the voice is in each half frame: [1, 1, 2 * frames], on the device.
  struct Curves {
    at::Tensor pitch;  // hertz
    at::Tensor loudness;
  };

  // In all calls `style` is [1, 2 * style_channels], on the device.
  Curves Predict(const KokoroEncoder::Output& encoded, const at::Tensor& style) const;
  // The samples, samples_per_frame for each frame; noise [samples][noise_per_sample] on the host.
  // nullopt when should_stop, asked before each block, said so. Waits for the device. The phases of
  // the harmonics add up the pitch over the sentence, so the last bit of it is heard in them: of
  // equal curves the samples are equal, of nearly equal ones they only sound the same.
  std::optional<std::vector<float>> Decode(const KokoroEncoder::Output& encoded,
                                           const Curves& curves, const at::Tensor& style,
                                           std::span<const float> noise,
                                           const std::function<bool()>& should_stop) const;

 private:
  struct Predictor {
    std::vector<KokoroStyleBlock> blocks;
    KokoroConv projection;
    KokoroConv slow;  // of the decoder: to one value a frame
  };

  Predictor TakePredictor(KokoroWeights& weights, const char* name) const;
  static at::Tensor RunPredictor(const Predictor& predictor, const at::Tensor& prosody,
                                 const at::Tensor& style);
  static at::Tensor Slow(const Predictor& predictor, const at::Tensor& values);

  int64_t style_ = 0;
  int64_t text_ = 0;
  KokoroLstm shared_;
  Predictor pitch_, loudness_;
  KokoroStyleBlock encode_;
  std::vector<KokoroStyleBlock> decode_;
  KokoroConv text_again_;
  KokoroGenerator generator_;
};

}  // namespace millrace::models
