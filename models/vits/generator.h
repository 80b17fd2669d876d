#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/kernels/precision.h"
#include "models/speech/packed_conv.h"
#include "models/vits/vits_weights.h"

namespace millrace::vits {

// The HiFi-GAN generator of VITS for the CPU, on rows of channels. It works in chunks that fit the
// caches: a chunk reads a few rows beyond its ends, so that samples do not depend on the cuts and
// memory does not grow with the sentence. Immutable, shared by all threads.
class Generator {
 public:
  // Scratch memory of one call; reusable, by one call at a time.
  class Scratch {
   private:
    friend class Generator;
    using Buffer = kernels::AlignedBuffer<float>;
    struct Stage {
      Buffer raw, active;                    // the output of the upsampling
      Buffer chain_raw[2], chain_active[2];  // within a residual block, alternately
      Buffer sum, output;                    // the residual blocks write these
    };
    Buffer frames, first;
    std::vector<Stage> stages;
  };

  // input_width: the width of a row of frames, in which latent channel c is at input_places[c].
  // precision: float32, or int8 for the upsampling and for the residual blocks that have enough
  // channels. Errors are kept in weights.status().
  Generator(VitsWeights& weights, const std::vector<int64_t>& input_places, int64_t input_width,
            const at::Tensor& speakers, kernels::Precision precision);

  // The input: rows of latents [frames][input_width].
  struct Sentence {
    const float* rows = nullptr;
    int64_t frames = 0;
    int64_t speaker = 0;
  };

  int64_t hop() const { return hop_; }
  // Returns the end of the frames that it reads for the samples of the frames before `end`; it may
  // lie beyond the sentence.
  int64_t InputEnd(int64_t end) const;
  // Writes samples [(end - begin) * hop] of the frames [begin, end) of the sentence. Calls
  // should_stop in every chunk; returns false, with the samples unfinished, if it returns true.
  bool Run(const Sentence& sentence, int64_t begin, int64_t end, Scratch& scratch, float* samples,
           const std::function<bool()>& should_stop) const;

 private:
  struct Conv {
    speech::PackedConv conv;
    bool residual = false;  // adds its input, or the input of the layer before it
  };
  using Block = std::vector<Conv>;
  struct Stage {
    speech::PackedConv up;
    int64_t stride = 1;
    int64_t crop = 0;   // rows that the uncropped transposed convolution has more at its start
    int64_t width = 0;  // floats of a row
    std::vector<Block> blocks;
  };
  // Rows begin..end-1 of a signal, which has none before row 0.
  struct Range {
    int64_t begin = 0;
    int64_t end = 0;
  };
  // The same with their values; `data` points to row `begin`.
  struct Rows {
    float* data = nullptr;
    int64_t begin = 0;
    int64_t end = 0;
    int64_t width = 0;

    float* row(int64_t index) const { return data + (index - begin) * width; }
  };

  struct BlockRows {
    Rows raw, active;   // the block's input
    Rows sum, output;   // the last block stores active rows at `output`, the others add to `sum`
    Range wanted;       // the values of `output` that must be right
    int64_t total = 0;  // rows of the whole signal
    float output_slope = 0;
  };

  static Block TakeBlock(VitsWeights& weights, int64_t index, int64_t channels,
                         kernels::Precision precision);
  // Returns the rows that a convolution computes so that the wanted ones are right. They begin and
  // end where it may be cut, so that no value depends on the chunks.
  static Range ComputedRows(const speech::PackedConv& conv, Range wanted);
  // The same of each convolution of a block, whose last one has the wanted rows.
  static std::vector<Range> ComputedRows(const Block& block, Range wanted);
  // Returns the input rows that a convolution reads for these.
  static Range InputRows(const speech::PackedConv& conv, Range computed);
  static Rows Allocate(kernels::AlignedBuffer<float>& memory, Range range, int64_t width);
  // Zeroes the rows outside of a signal of `total` rows.
  static void ClearOutside(const Rows& rows, int64_t total);

  kernels::AlignedBuffer<float> SpeakerBias(int64_t speaker) const;
  // Returns active rows of the first convolution. Rows outside the signal are zero, as in all
  // signals here.
  Rows RunPre(const Rows& frames, int64_t total, Range wanted, const float* bias,
              Scratch& scratch) const;
  // Returns at least the wanted active output rows of a stage; others may have any values.
  // input_total: the length of the whole input signal.
  Rows RunStage(size_t index, const Rows& input, int64_t input_total, Range wanted,
                Scratch::Stage& scratch) const;
  void RunBlock(const Stage& stage, size_t block, const BlockRows& rows,
                Scratch::Stage& scratch) const;
  // Returns the input rows that output rows of the stage need.
  static Range InputRows(const Stage& stage, Range wanted);

  int64_t hop_ = 1;
  speech::PackedConv pre_;
  VitsConv speaker_;
  at::Tensor speakers_;
  std::vector<Stage> stages_;
  kernels::AlignedBuffer<float> post_;  // [tap][channel]
  int64_t post_taps_ = 0;
  float post_bias_ = 0;
};

}  // namespace millrace::vits
