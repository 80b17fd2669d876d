#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/kernels/precision.h"
#include "models/kokoro/fused_lstm.h"
#include "models/kokoro/kokoro_extent.h"
#include "models/speech/cpu_conv.h"
#include "models/speech/cpu_upsampling.h"
#include "models/speech/stored_tensor.h"
#include "models/speech/tensor_reader.h"

namespace millrace::kokoro {

// The layers that Kokoro's encoder and decoder share, in ATen operators: immutable values for any
// device and thread. Signals are [batch, channels, time]; a style is [batch, style channels].
// Layers over time take an extent: their input is zero beyond it, and their output there is
// undefined unless they say that it is zero. Errors of the weights are kept in the reader.

// The epsilon of the normalizations, which is the same in all of Kokoro but its ALBERT.
inline constexpr double kNormEpsilon = 1e-5;

// Repeats each value of the last dimension `times` times. Unlike repeat_interleave it never
// synchronises with the device.
at::Tensor Stretch(const at::Tensor& x, int64_t times);

struct KokoroLinear {
  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out]

  static KokoroLinear Take(speech::TensorReader& weights, const std::string& name, int64_t out,
                           int64_t in);
  at::Tensor Run(const at::Tensor& x) const;
};

// A linear layer for few rows, whose weights stay as the file has them.
struct KokoroAffine {
  speech::StoredTensor weight;  // [out, in]
  at::Tensor bias;              // [out]

  static KokoroAffine Take(speech::TensorReader& weights, const std::string& name, int64_t out,
                           int64_t in);
  at::Tensor Run(const at::Tensor& x) const;
};

// A convolution over time; bias may be undefined.
struct KokoroConv {
  at::Tensor weight;  // [out, in, taps]
  at::Tensor bias;

  static KokoroConv Take(speech::TensorReader& weights, const std::string& name, int64_t out,
                         int64_t in);
  // Like Take, for a convolution that keeps the length; it must have an odd number of taps.
  static KokoroConv TakeSame(speech::TensorReader& weights, const std::string& name, int64_t out,
                             int64_t in);
  // Runs with zeros beyond both ends, so that the length stays.
  at::Tensor RunSame(const at::Tensor& x, int64_t dilation = 1) const;
};

// A convolution that keeps the length, whose weights are packed while they are loaded, see
// TensorReader::TakeToPack.
struct KokoroConvToPack {
  speech::StoredTensor weight;  // [out, in, taps]
  at::Tensor bias;

  // Like KokoroConv::TakeSame.
  static KokoroConvToPack Take(speech::TensorReader& weights, const std::string& name, int64_t out,
                               int64_t in);
};

// A KokoroConv that keeps the length, in the fastest implementation for the device of its weights.
class KokoroSameConv {
 public:
  // Like KokoroConv::TakeSame. exact: see ConvTask. precision: see CpuConv; of no device but the
  // CPU.
  static KokoroSameConv Take(speech::TensorReader& weights, const std::string& name, int64_t out,
                             int64_t in, bool exact,
                             kernels::Precision precision = kernels::Precision::kFloat32);
  bool defined() const { return out_ > 0; }
  int64_t out_channels() const { return out_; }
  // On accelerators only: [out, in, taps] and [out].
  const at::Tensor& weight() const { return aten_.weight; }
  const at::Tensor& bias() const { return aten_.bias; }
  at::Tensor Run(const at::Tensor& x) const;
  // Does the same over rows of channels, [time, channels], on the CPU alone.
  at::Tensor RunRows(const at::Tensor& x) const { return cpu_->RunRows(x); }

 private:
  int64_t out_ = 0;
  KokoroConv aten_;
  std::optional<speech::CpuConv> cpu_;  // on the CPU, instead of aten_
};

// A transposed convolution that makes a signal `stride` times as long, cut alike at both ends, in
// the fastest implementation for the device of its weights.
class KokoroUpsampling {
 public:
  // in: -1 for any number of channels. precision: float32, or int8 on the CPU.
  static KokoroUpsampling Take(speech::TensorReader& weights, const std::string& name, int64_t in,
                               int64_t stride,
                               kernels::Precision precision = kernels::Precision::kFloat32);
  bool defined() const { return out_ > 0; }
  int64_t in_channels() const { return in_; }
  int64_t out_channels() const { return out_; }
  int64_t stride() const { return stride_; }
  // On accelerators only: [in, out, taps] and [out].
  const at::Tensor& weight() const { return aten_.weight; }
  const at::Tensor& bias() const { return aten_.bias; }
  at::Tensor Run(const at::Tensor& x) const;
  // See speech::CpuUpsampling; on the CPU alone.
  at::Tensor RunRows(const at::Tensor& x, bool reflected) const {
    return cpu_->RunRows(x, reflected);
  }

 private:
  int64_t in_ = 0;
  int64_t out_ = 0;
  int64_t stride_ = 1;
  KokoroConv aten_;                           // weight: [in, out, taps]
  std::optional<speech::CpuUpsampling> cpu_;  // on the CPU, instead of aten_
};

// A linear layer for many rows, in the fastest implementation for the device of its weights.
class KokoroRows {
 public:
  static KokoroRows Take(speech::TensorReader& weights, const std::string& name, int64_t out,
                         int64_t in);
  bool defined() const { return out_ > 0; }
  int64_t in_features() const { return in_; }
  int64_t out_features() const { return out_; }
  const KokoroLinear& linear() const { return aten_; }  // on accelerators only
  // Converts [..., in] to [..., out].
  at::Tensor Run(const at::Tensor& x) const;

 private:
  int64_t in_ = 0;
  int64_t out_ = 0;
  KokoroLinear aten_;
  std::optional<speech::CpuConv> cpu_;  // on the CPU, instead of aten_
};

// A bidirectional LSTM layer.
struct KokoroLstm {
  std::vector<speech::StoredTensor> stored;  // on the CPU without padding
  std::vector<at::Tensor> parameters;        // else
  int64_t hidden = 0;                        // the size of one direction
  int64_t flags = 0;                         // inputs that mark the padding
  std::optional<FusedLstm> fused;            // instead of the parameters

  // padded: Run will be called with extents that are not whole.
  static KokoroLstm Take(speech::TensorReader& weights, const std::string& name, int64_t in,
                         bool padded);
  // Converts [batch, time, in] to [batch, time, 2 * hidden].
  at::Tensor Run(const at::Tensor& x, const KokoroExtent& extent = {}) const;

 private:
  static std::vector<at::Tensor> FloatsOf(const std::vector<speech::StoredTensor>& stored);
  void AddFlags();
  void Flatten();
};

// Instance norm over time with scale and shift from the style.
struct KokoroStyleNorm {
  KokoroAffine affine;  // to the scales minus 1, then the shifts

  static KokoroStyleNorm Take(speech::TensorReader& weights, const std::string& name,
                              int64_t channels, int64_t style);
  at::Tensor Run(const at::Tensor& x, const at::Tensor& style,
                 const KokoroExtent& extent = {}) const;
  // The scale and shift of each channel within the extent, which must not be whole: all [batch,
  // channels, 1]. `scales` and `shifts` are the style's.
  struct Scaling {
    at::Tensor scale, shift;
  };
  static Scaling Scale(const at::Tensor& x, const at::Tensor& scales, const at::Tensor& shifts,
                       const KokoroExtent& extent);
};

// Two convolutions with a style norm before each, and a shortcut; may double the length.
struct KokoroStyleBlock {
  static constexpr double kSlope = 0.2;  // the leaky ReLUs have this slope

  KokoroStyleNorm norm_1, norm_2;
  KokoroSameConv conv_1, conv_2;
  KokoroConv pool;          // doubles the length; undefined where it stays
  KokoroSameConv shortcut;  // undefined where the channels stay

  // exact: see ConvTask. precision: that of the two convolutions behind norms, see CpuConv.
  static KokoroStyleBlock Take(speech::TensorReader& weights, const std::string& name, int64_t in,
                               int64_t out, int64_t style, bool exact,
                               kernels::Precision precision = kernels::Precision::kFloat32);
  // after: the extent of the result, which is zero beyond it.
  at::Tensor Run(const at::Tensor& x, const at::Tensor& style, const KokoroExtent& extent = {},
                 const KokoroExtent& after = {}) const;
};

}  // namespace millrace::kokoro
