#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/weights/safetensors.h"

namespace millrace::models {

// What the shapes of the weights do not tell.
struct VitsShape {
  std::vector<int64_t> upsample_strides;
  std::vector<int64_t> flow_dilations;                // of the layers of one coupling layer
  std::vector<std::vector<int64_t>> block_dilations;  // of each residual block, all stages in order

  // Samples of one frame.
  int64_t hop() const;
};

// Hands out the tensors of a VITS package by the names of Piper's checkpoints, and remembers the
// first that is missing or of the wrong shape, so that the code that builds a network stays a list
// of its layers. For one thread, while loading.
class VitsWeights {
 public:
  // The tensors will live on the device.
  static absl::StatusOr<VitsWeights> Open(const std::filesystem::path& file, at::Device device);

  const VitsShape& shape() const { return shape_; }
  bool Has(const std::string& name) const;
  // How many numbers from 0 exist for "<prefix><number><suffix>".
  int64_t Count(const std::string& prefix, const std::string& suffix) const;
  // A float32 copy of a tensor; -1 accepts any size. An undefined tensor when it is missing or does
  // not fit.
  at::Tensor Take(const std::string& name, const std::vector<int64_t>& shape);
  // As Take, but a tensor that is not there at all is no error.
  at::Tensor TakeIfAny(const std::string& name, const std::vector<int64_t>& shape);

  // An error of the tensor of that name.
  void Refuse(const std::string& name, const std::string& what);

  // The first error of all the calls before.
  const absl::Status& status() const { return status_; }

 private:
  VitsWeights(SafetensorsFile file, at::Device device) : file_(std::move(file)), device_(device) {}
  absl::Status ReadShape(const std::filesystem::path& path);

  SafetensorsFile file_;
  at::Device device_;
  VitsShape shape_;
  absl::Status status_;
};

// A convolution's parameters; bias may be undefined.
struct VitsConv {
  at::Tensor weight;
  at::Tensor bias;
  int64_t stride = 1;
  int64_t dilation = 1;
};

VitsConv TakeConv(VitsWeights& weights, const std::string& name, const std::vector<int64_t>& shape,
                  int64_t dilation = 1);
// As TakeConv, for a convolution that keeps the length: it must have an odd number of taps.
VitsConv TakeSameConv(VitsWeights& weights, const std::string& name,
                      const std::vector<int64_t>& shape, int64_t dilation = 1);
// The upsampling of a stage of the generator, weight [channels, out, kernel]; the kernel must cover
// the stride.
VitsConv TakeUpsampling(VitsWeights& weights, size_t stage, int64_t channels);

}  // namespace millrace::models
