#include "models/speech/tensor_reader.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "models/core/strings.h"

namespace millrace::speech {
namespace {

bool Fits(const std::vector<int64_t>& actual, const std::vector<int64_t>& wanted) {
  if (actual.size() != wanted.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] >= 0 ? actual[i] != wanted[i] : actual[i] < 1) return false;
  }
  return true;
}

bool AllFinite(const float* values, size_t count) {
  constexpr uint32_t kInfinity = 0x7F800000;
  uint32_t greatest = 0;  // magnitudes of floats are in the order of their bits
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, values + i, sizeof(bits));
    greatest = std::max(greatest, bits & 0x7FFFFFFF);
  }
  return greatest < kInfinity;
}

}  // namespace

std::vector<int64_t> ParseNumbers(const std::string& text, int64_t max) {
  std::vector<int64_t> numbers;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, ' '))) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(part, &number) || number < 1 || number > max) return {};
    numbers.push_back(number);
  }
  return numbers;
}

void TensorReader::Refuse(const std::string& name, const std::string& what) {
  status_.Update(absl::DataLossError(StrCat(file_.path().string(), ": ", name, " ", what)));
}

bool TensorReader::Has(const std::string& name) const { return file_.tensors().contains(name); }

int64_t TensorReader::Count(const std::string& prefix, const std::string& suffix) const {
  int64_t number = 0;
  while (Has(StrCat(prefix, number, suffix))) ++number;
  return number;
}

at::Tensor TensorReader::Take(const std::string& name, const std::vector<int64_t>& shape) {
  const auto view = file_.Find(name);
  if (!view.ok()) {
    status_.Update(view.status());
    return {};
  }
  if (view->type != models::DataType::kFp32 || !Fits(view->shape, shape)) {
    Refuse(name, StrCat("is ", std::string(models::ToString(view->type)), " [",
                        absl::StrJoin(view->shape, ", "), "], expected FP32 [",
                        absl::StrJoin(shape, ", "), "], -1 being any size"));
    return {};
  }
  const auto* const values = reinterpret_cast<const float*>(view->data);
  if (finite_ && !AllFinite(values, view->bytes / sizeof(float))) {
    Refuse(name, "has a value that is not finite, which PRECISION_INT8 cannot round");
    return {};
  }
  // This is a copy: a file that is truncated later must not kill the server.
  const at::Tensor mapped = at::from_blob(const_cast<std::byte*>(view->data), view->shape,
                                          at::TensorOptions().dtype(at::kFloat));
  const at::Tensor copy = mapped.to(device_, at::kFloat, /*non_blocking=*/false, /*copy=*/true);
  // A model's weights would else be in the memory twice until it is loaded.
  file_.Release(*view);
  return copy;
}

at::Tensor TensorReader::TakeIfAny(const std::string& name, const std::vector<int64_t>& shape) {
  return Has(name) ? Take(name, shape) : at::Tensor();
}

}  // namespace millrace::speech
