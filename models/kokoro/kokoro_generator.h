#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "models/kernels/precision.h"
#include "models/kokoro/aten_snake_block.h"
#include "models/kokoro/cpu_snake_block.h"
#include "models/kokoro/fused_stage.h"
#include "models/kokoro/harmonic_source.h"
#include "models/kokoro/kokoro_extent.h"
#include "models/kokoro/kokoro_layers.h"
#include "models/kokoro/kokoro_weights.h"
#include "models/speech/cpu_conv.h"

namespace millrace::kokoro {

// The last part of Kokoro (iSTFTNet): upsamples the features of the frames, joins them with the
// harmonic source to a spectrum, and transforms that to samples. Runs on the device of the weights.
// Immutable: any number of threads may call it.
class KokoroGenerator {
 public:
  // padded: RunPadded will be called, else Run, whose weights are on the CPU. exact: in float32
  // throughout. precision: that of the residual blocks and the upsampling for Run. Errors are kept
  // in weights.status().
  KokoroGenerator(KokoroWeights& weights, int64_t style, int sample_rate, bool padded, bool exact,
                  kernels::Precision precision);

  int64_t in_channels() const { return in_channels_; }
  int64_t sines() const { return source_.sines(); }
  bool fused() const { return stages_.front().fused.has_value(); }

  // Returns samples [pitch values * samples_per_pitch] on the device. features [1, in channels,
  // pitch values]; pitch [1, values] in hertz; noise [1, samples, sines]. Returns nullopt if
  // should_stop, which is called before each block, returns true.
  std::optional<at::Tensor> Run(const at::Tensor& features, const at::Tensor& pitch,
                                at::Tensor noise, const at::Tensor& style,
                                const std::function<bool()>& should_stop) const;
  // Returns samples [batch, samples] of a padded batch: features [batch, in channels, pitch
  // values], zero beyond the extent, or if fused() rows of halves [batch, pitch values, in
  // channels]; pitch [batch, values]; noise [batch, samples, sines]. Samples
  // beyond an end are undefined.
  at::Tensor RunPadded(const at::Tensor& features, const at::Tensor& pitch, const at::Tensor& noise,
                       const at::Tensor& style, const KokoroExtent& extent) const;

 private:
  struct Stage {
    KokoroUpsampling up;
    // Converts the source to the stage's rate: for RunPadded `source`, for Run `source_rows`, over
    // rows of source_stride values of each channel.
    KokoroConv source;
    speech::CpuConv source_rows;
    int64_t source_stride = 1;
    int64_t source_padding() const;
    // The source's block is first. Run uses `blocks`, and RunPadded uses `fused` where the device
    // has it and else `padded_blocks`; the others are empty.
    std::vector<CpuSnakeBlock> blocks;
    std::vector<AtenSnakeBlock> padded_blocks;
    std::optional<FusedStage> fused;  // then all stages have it
  };

  void TakeStage(KokoroWeights& weights, size_t index, int64_t channels, int64_t style, bool padded,
                 kernels::Precision precision);
  // Makes the stages' `fused`, if the device supports it for all of them.
  void FuseStages();
  static at::Tensor SourceOf(const Stage& stage, const at::Tensor& source);
  // Does the same with rows: converts [values, channels] to [time, channels].
  static at::Tensor SourceRows(const Stage& stage, const at::Tensor& source);
  at::Tensor Upsample(const Stage& stage, const at::Tensor& x) const;
  // Returns what RunPadded converts to a spectrum, by stages that are fused. last: the extent.
  at::Tensor RunFused(const at::Tensor& features, const at::Tensor& source, const at::Tensor& style,
                      const KokoroExtent& extent, const KokoroExtent& last) const;
  // Returns [batch, 1, samples] for RunPadded.
  at::Tensor ToSamples(const at::Tensor& spectrum, const KokoroExtent& extent) const;
  // Returns [samples]; the spectrum is [time, 2 * bins].
  at::Tensor RowsToSamples(const at::Tensor& spectrum) const;

  const HarmonicSource source_;
  const int64_t fft_size_;
  const int64_t hop_;
  int64_t in_channels_ = 0;
  std::vector<Stage> stages_;
  KokoroSameConv post_;
  // For the inverse transform, of Run [2 * bins, fft_size_] and [1, fft_size_]; of RunPadded, as
  // convolutions, because devices add the results of transposed ones in any order, [hop, 2 * bins,
  // windows that overlap] and [hop, 1, windows that overlap].
  at::Tensor synthesis_, overlap_;
};

}  // namespace millrace::kokoro
