#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "models/kokoro/fused_features.h"
#include "models/kokoro/fused_predictor.h"
#include "models/kokoro/kokoro_encoder.h"
#include "models/kokoro/kokoro_generator.h"
#include "models/kokoro/kokoro_layers.h"
#include "models/kokoro/kokoro_weights.h"

namespace millrace::kokoro {

// Kokoro's decoder: turns the encoder's features, at the lengths of the phonemes, into samples.
// Runs on the device of the weights, for one sentence at a time or a padded batch, and always over
// the whole length, because the style norms read all of it. Immutable: any number of threads may
// call it.
class KokoroDecoder {
 public:
  // padded: the methods for padded batches will be called, else the others. exact: in float32
  // throughout, also where the device is faster with less. precision: float32 or, on the
  // CPU, int8 for the convolutions behind norms, but for those that give the pitch, and what
  // KokoroGenerator says. Errors are kept in weights.status().
  KokoroDecoder(KokoroWeights& weights, int sample_rate, bool padded = false, bool exact = false,
                kernels::Precision precision = kernels::Precision::kFloat32);

  int64_t style_channels() const { return style_; }  // the size of each half of a voice's style
  int64_t noise_per_sample() const { return generator_.sines(); }

  // The pitch and the loudness of the voice in each half frame: [1, 1, 2 * frames], on the device.
  struct Curves {
    at::Tensor pitch;  // hertz
    at::Tensor loudness;
  };

  // In all methods `style` is [1, 2 * style_channels], on the device.
  Curves Predict(const KokoroEncoder::Output& encoded, const at::Tensor& style) const;
  // Returns the samples, samples_per_frame for each frame; noise [samples][noise_per_sample] on the
  // host. Returns nullopt if should_stop, which is called before each block, returns true. Waits
  // for the device. The phases of the harmonics sum the pitch over the sentence, so its last bit
  // matters: equal curves give equal samples, and nearly equal ones give samples that only sound
  // the same.
  std::optional<std::vector<float>> Decode(const KokoroEncoder::Output& encoded,
                                           const Curves& curves, const at::Tensor& style,
                                           std::vector<float> noise,
                                           const std::function<bool()>& should_stop) const;

  // Several sentences that are padded to one length; all on the device.
  struct PaddedInput {
    at::Tensor features;    // [batch, frames, channels], from the encoder; zero beyond an end
    at::Tensor counts;      // [batch, 1, 1]: the number of frames
    at::Tensor style;       // [batch, 2 * style_channels]
    at::Tensor noise_keys;  // [batch, 4]: see DrawNoise
  };
  // Returns curves [batch, 1, 2 * frames], zero beyond an end.
  Curves PredictPadded(const PaddedInput& input) const;
  // Returns samples [batch, samples_per_frame * frames]; those beyond an end are undefined.
  at::Tensor DecodePadded(const PaddedInput& input, const Curves& curves) const;

 private:
  struct Predictor {
    std::vector<KokoroStyleBlock> blocks;  // empty if `fused`
    KokoroConv projection;
    KokoroConv slow;                      // the decoder's: reduces to one value for each frame
    std::optional<FusedPredictor> fused;  // for padded batches, where the device has it
  };

  // Makes what is fused, where the device supports it.
  void FuseBlocks();
  Predictor TakePredictor(KokoroWeights& weights, const char* name,
                          kernels::Precision precision) const;
  // after: the extent at two values for each frame.
  static at::Tensor RunPredictor(const Predictor& predictor, const at::Tensor& prosody,
                                 const at::Tensor& style, const KokoroExtent& extent,
                                 const KokoroExtent& after);
  static at::Tensor Slow(const Predictor& predictor, const at::Tensor& values);
  // Returns the generator's input, or nullopt. text [batch, channels, frames]; style: of the sound.
  std::optional<at::Tensor> Features(const at::Tensor& text, const Curves& curves,
                                     const at::Tensor& style, const KokoroExtent& extent,
                                     const KokoroExtent& after,
                                     const std::function<bool()>& should_stop) const;

  int64_t samples_per_frame_ = 0;
  int64_t style_ = 0;
  int64_t text_ = 0;
  KokoroLstm shared_;
  Predictor pitch_, loudness_;
  // The first block encodes and the others decode. DecodePadded uses `fused_` instead where the
  // device has it; they are empty then.
  std::vector<KokoroStyleBlock> blocks_;
  std::optional<FusedFeatures> fused_;
  KokoroConv text_again_;
  KokoroGenerator generator_;
};

}  // namespace millrace::kokoro
