#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/kokoro/kokoro_extent.h"
#include "models/speech/cpu_conv.h"
#include "models/speech/tensor_reader.h"

namespace millrace::kokoro {

// The layers that the halves of Kokoro share, on ATen operators: values, immutable once taken, any
// device, any thread. Signals are [batch, channels, time]; a style is [batch, style channels].
// Those that look along the time take an extent, beyond which their input is zero and their output
// means nothing, or is zero where they say so. Errors of the weights are kept in the reader.

// Each value of the last dimension `times` times over. Unlike repeat_interleave it is known never
// to ask the device anything.
at::Tensor Stretch(const at::Tensor& x, int64_t times);

struct KokoroLinear {
  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out]

  static KokoroLinear Take(speech::TensorReader& weights, const std::string& name, int64_t out,
                           int64_t in);
  at::Tensor Run(const at::Tensor& x) const;
};

// A convolution over time; bias may be undefined.
struct KokoroConv {
  at::Tensor weight;  // [out, in, taps]
  at::Tensor bias;

  static KokoroConv Take(speech::TensorReader& weights, const std::string& name, int64_t out,
                         int64_t in);
  // As Take, for one that keeps the length: it must have an odd number of taps.
  static KokoroConv TakeSame(speech::TensorReader& weights, const std::string& name, int64_t out,
                             int64_t in);
  // With zeros beyond both ends, so that the length stays.
  at::Tensor RunSame(const at::Tensor& x, int64_t dilation = 1) const;
};

// A KokoroConv that keeps the length, the fastest for the device of its weights.
class KokoroSameConv {
 public:
  // As KokoroConv::TakeSame. `exact`: see ConvTask.
  static KokoroSameConv Take(speech::TensorReader& weights, const std::string& name, int64_t out,
                             int64_t in, bool exact);
  bool defined() const { return out_ > 0; }
  int64_t out_channels() const { return out_; }
  at::Tensor Run(const at::Tensor& x) const;

 private:
  int64_t out_ = 0;
  KokoroConv aten_;
  std::optional<speech::CpuConv> native_;  // on the CPU, in place of the other
};

// One layer in both directions.
struct KokoroLstm {
  std::vector<at::Tensor> parameters;
  int64_t hidden = 0;  // of one direction
  int64_t flags = 0;   // inputs that say what is padding

  // `padded`: it will be given extents. Otherwise they must be whole.
  static KokoroLstm Take(speech::TensorReader& weights, const std::string& name, int64_t in,
                         bool padded);
  // [batch, time, in] to [batch, time, 2 * hidden].
  at::Tensor Run(const at::Tensor& x, const KokoroExtent& extent = {}) const;

 private:
  void AddFlags();
  void Flatten();
};

// Instance norm over time, scaled and shifted by what the style says.
struct KokoroStyleNorm {
  KokoroLinear affine;  // to the scales less 1, then the shifts

  static KokoroStyleNorm Take(speech::TensorReader& weights, const std::string& name,
                              int64_t channels, int64_t style);
  at::Tensor Run(const at::Tensor& x, const at::Tensor& style,
                 const KokoroExtent& extent = {}) const;
  // What norm and style do to each channel within the extent, which is not whole: all [batch,
  // channels, 1]. `scales` and `shifts` are the style's.
  struct Scaling {
    at::Tensor scale, shift;
  };
  static Scaling Scale(const at::Tensor& x, const at::Tensor& scales, const at::Tensor& shifts,
                       const KokoroExtent& extent);
};

// Two convolutions with a style norm before each, and a shortcut; may double the length.
struct KokoroStyleBlock {
  KokoroStyleNorm norm_1, norm_2;
  KokoroSameConv conv_1, conv_2;
  KokoroConv pool;          // doubles the length; undefined where it stays
  KokoroSameConv shortcut;  // undefined where the channels stay

  // `exact`: see ConvTask.
  static KokoroStyleBlock Take(speech::TensorReader& weights, const std::string& name, int64_t in,
                               int64_t out, int64_t style, bool exact);
  // `after`: the extent of the result, which is zero beyond it.
  at::Tensor Run(const at::Tensor& x, const at::Tensor& style, const KokoroExtent& extent = {},
                 const KokoroExtent& after = {}) const;
};

}  // namespace millrace::kokoro
