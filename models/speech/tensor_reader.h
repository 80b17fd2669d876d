#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "models/speech/stored_tensor.h"
#include "models/weights/safetensors.h"

namespace millrace::speech {

// Reads the tensors of a safetensors file by name. It keeps the first error, of a missing tensor or
// a wrong shape, so that the code that builds a network stays a list of its layers. For one thread,
// while loading.
class TensorReader {
 public:
  // Tensors are copied to the device.
  TensorReader(models::SafetensorsFile file, at::Device device)
      : file_(std::move(file)), device_(device) {}

  at::Device device() const { return device_; }
  bool Has(const std::string& name) const;
  // Returns the number of consecutive numbers from 0 on for which "<prefix><number><suffix>"
  // exists.
  int64_t Count(const std::string& prefix, const std::string& suffix) const;
  // Returns a float32 copy of a tensor; -1 accepts any size. Returns an undefined tensor when it is
  // missing, has another shape, or is refused. A tensor in the file is float32, or has uint8 codes
  // with "<name>.scale", float32, and "<name>.zero_point", uint8, both of one value or of one for
  // each row of the first dimension: (code - zero point) * scale.
  at::Tensor Take(const std::string& name, const std::vector<int64_t>& shape);
  // Like Take, but codes stay codes on the CPU.
  StoredTensor TakeStored(const std::string& name, const std::vector<int64_t>& shape);
  // Like TakeStored, for code that packs the tensor at once: on the CPU it is a view of the file,
  // of which nothing has been read. It must not outlive the reader, because a file that is
  // truncated later must not kill the server.
  StoredTensor TakeToPack(const std::string& name, const std::vector<int64_t>& shape);
  // Like Take, but a missing tensor is no error.
  at::Tensor TakeIfAny(const std::string& name, const std::vector<int64_t>& shape);

  // From here on a tensor with a value that is not finite is refused: int8 has no such numbers.
  void RequireFinite() { finite_ = true; }
  // Records an error of the tensor with that name.
  void Refuse(const std::string& name, const std::string& what);

  // Returns the first error of all calls so far.
  const absl::Status& status() const { return status_; }

 protected:
  const models::SafetensorsFile& file() const { return file_; }

 private:
  // Returns a tensor in the mapped file; undefined when it is missing or refused.
  StoredTensor Find(const std::string& name, const std::vector<int64_t>& shape);
  // Gives back the memory of a tensor of which there is a copy now: a model's weights would else be
  // in the memory twice until it is loaded.
  void Release(const std::string& name);
  // Returns a tensor of codes in the mapped file; undefined when its scales are refused.
  StoredTensor ReadCodes(const std::string& name, const models::SafetensorsFile::View& codes);

  models::SafetensorsFile file_;
  at::Device device_;
  bool finite_ = false;
  absl::Status status_;
};

// Parses "1 2 3". Returns an empty vector when a number is missing or not in 1..max.
std::vector<int64_t> ParseNumbers(const std::string& text, int64_t max);

}  // namespace millrace::speech
