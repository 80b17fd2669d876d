#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/kokoro/fused_albert.h"
#include "models/kokoro/kokoro_layers.h"
#include "models/kokoro/kokoro_weights.h"
#include "models/speech/split_product.h"

namespace millrace::kokoro {

// Kokoro's encoder: turns phonemes and style into the number of frames of each phoneme and the
// decoder's features. Runs as ATen operators on the device of the weights, for one sentence at a
// time or a padded batch. Immutable: any number of threads may call it.
class KokoroEncoder {
 public:
  struct Output {
    at::Tensor prosody;           // [1, phonemes, channels], on the device
    at::Tensor text;              // [1, channels, phonemes], on the device
    std::vector<int64_t> frames;  // each phoneme's at normal speed, >= 1; 0: it was not finite
  };

  // padded: it will run padded batches. Errors are kept in weights.status().
  explicit KokoroEncoder(KokoroWeights& weights, bool padded = false);

  int64_t symbols() const { return symbols_.size(0); }
  // Returns the most phonemes of a sentence, with the marks of both ends.
  int64_t max_phonemes() const { return positions_.size(0); }

  // phonemes: with the marks of both ends. style: [1, style channels], the second half of a
  // voice's. Waits for the device.
  Output Forward(std::span<const int64_t> phonemes, const at::Tensor& style) const;

  // Several sentences that are padded to one length; all on the device. Values beyond an end are
  // undefined.
  struct PaddedInput {
    at::Tensor phonemes;  // [batch, phonemes], long
    at::Tensor counts;    // [batch, 1, 1]: the number of phonemes
    at::Tensor style;     // [batch, style channels]
  };
  struct PaddedOutput {
    at::Tensor features;  // [batch, phonemes, channels]: prosody, then text
    at::Tensor lengths;   // [batch, phonemes]: the input of FramesOf
  };
  PaddedOutput ForwardPadded(const PaddedInput& input) const;
  // Returns Output::frames for the lengths of a sentence.
  static std::vector<int64_t> FramesOf(std::span<const float> lengths);

 private:
  using Norm = FusedAlbert::Norm;
  struct TextLayer {
    KokoroSameConv conv;
    std::optional<speech::SplitProduct> fused_conv;  // for padded batches, where the device has it
    Norm norm;
  };
  struct ProsodyLayer {
    KokoroLstm lstm;
    KokoroAffine affine;  // from the style to the scales minus 1, then the shifts
  };

  static Norm TakeNorm(KokoroWeights& weights, const std::string& name, const char* weight,
                       const char* bias, int64_t channels);
  void TakeAlbert(KokoroWeights& weights);
  void TakeText(KokoroWeights& weights);
  struct Analysis {
    at::Tensor prosody;  // [batch, phonemes, channels]
    at::Tensor text;     // [batch, channels, phonemes]
    at::Tensor lengths;  // [batch, phonemes]: frames at normal speed, not yet whole
  };
  Analysis Analyze(const at::Tensor& ids, const at::Tensor& style,
                   const KokoroExtent& extent) const;
  // barrier: undefined or a mask [batch, 1, 1, phonemes] that is added to the attention scores.
  at::Tensor RunAlbert(const at::Tensor& ids, const at::Tensor& barrier) const;
  at::Tensor Attend(const at::Tensor& x, const at::Tensor& barrier) const;
  at::Tensor RunText(const at::Tensor& ids, const KokoroExtent& extent) const;

  const bool padded_;
  const int64_t layers_;
  const int64_t heads_;
  // ALBERT.
  at::Tensor symbols_, positions_, kind_;  // embeddings
  Norm embedding_norm_;
  KokoroRows widen_, query_, key_, value_, mix_, feed_1_, feed_2_;
  Norm attention_norm_, layer_norm_;
  std::optional<FusedAlbert> albert_;  // where the device has it
  // The layers of the prosody.
  KokoroRows narrow_;
  std::vector<ProsodyLayer> prosody_;
  KokoroLstm duration_lstm_;
  KokoroLinear duration_;
  // The layers of the text.
  at::Tensor text_symbols_;
  std::vector<TextLayer> text_layers_;
  KokoroLstm text_lstm_;
};

}  // namespace millrace::kokoro
