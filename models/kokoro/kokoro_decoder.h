#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "models/kokoro/kokoro_encoder.h"
#include "models/kokoro/kokoro_generator.h"
#include "models/kokoro/kokoro_layers.h"
#include "models/kokoro/kokoro_weights.h"

namespace millrace::kokoro {

// The second half of Kokoro: what the encoder gave, at its lengths, to samples. On the device of
// the weights; one sentence at a time, or a padded batch of them. Always over the whole length: the
// style norms look at all of it.
// Immutable: any number of threads may call it.
class KokoroDecoder {
 public:
  // `padded`: the calls for padded batches will be made, else the others. Errors are kept in
  // weights.status().
  KokoroDecoder(KokoroWeights& weights, int sample_rate, bool padded = false);

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
                                           std::vector<float> noise,
                                           const std::function<bool()>& should_stop) const;

  // Of several sentences, padded to one length; all on the device.
  struct PaddedInput {
    at::Tensor features;    // [batch, frames, channels], as of the encoder; zero beyond an end
    at::Tensor counts;      // [batch, 1, 1]: how many frames there are
    at::Tensor style;       // [batch, 2 * style_channels]
    at::Tensor noise_keys;  // [batch, 4]: see DrawNoise
  };
  // [batch, 1, 2 * frames], zero beyond an end.
  Curves PredictPadded(const PaddedInput& input) const;
  // The samples [batch, samples_per_frame * frames]; those beyond an end mean nothing.
  at::Tensor DecodePadded(const PaddedInput& input, const Curves& curves) const;

 private:
  struct Predictor {
    std::vector<KokoroStyleBlock> blocks;
    KokoroConv projection;
    KokoroConv slow;  // of the decoder: to one value a frame
  };

  Predictor TakePredictor(KokoroWeights& weights, const char* name) const;
  // `after`: the extent at two values a frame.
  static at::Tensor RunPredictor(const Predictor& predictor, const at::Tensor& prosody,
                                 const at::Tensor& style, const KokoroExtent& extent,
                                 const KokoroExtent& after);
  static at::Tensor Slow(const Predictor& predictor, const at::Tensor& values);
  // What the generator takes, or nullopt; text [batch, channels, frames], style for the sound.
  std::optional<at::Tensor> Features(const at::Tensor& text, const Curves& curves,
                                     const at::Tensor& style, const KokoroExtent& extent,
                                     const KokoroExtent& after,
                                     const std::function<bool()>& should_stop) const;

  int64_t samples_per_frame_ = 0;
  int64_t style_ = 0;
  int64_t text_ = 0;
  KokoroLstm shared_;
  Predictor pitch_, loudness_;
  KokoroStyleBlock encode_;
  std::vector<KokoroStyleBlock> decode_;
  KokoroConv text_again_;
  KokoroGenerator generator_;
};

}  // namespace millrace::kokoro
