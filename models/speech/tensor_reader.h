#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "models/weights/safetensors.h"

namespace millrace::speech {

// Hands out the tensors of a safetensors file by name, and remembers the first that is missing or
// of the wrong shape, so that the code that builds a network stays a list of its layers. For one
// thread, while loading.
class TensorReader {
 public:
  // The tensors will live on the device.
  TensorReader(models::SafetensorsFile file, at::Device device)
      : file_(std::move(file)), device_(device) {}

  at::Device device() const { return device_; }
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

 protected:
  const models::SafetensorsFile& file() const { return file_; }

 private:
  models::SafetensorsFile file_;
  at::Device device_;
  absl::Status status_;
};

// "1 2 3"; empty when a number is missing or not in 1..max.
std::vector<int64_t> ParseNumbers(const std::string& text, int64_t max);

}  // namespace millrace::speech
