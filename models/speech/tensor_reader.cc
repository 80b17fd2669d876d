#include "models/speech/tensor_reader.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "models/core/errors.h"
#include "models/core/strings.h"

namespace millrace::speech {
namespace {

// The greatest difference of a code and a zero point.
constexpr float kMostCode = 255;

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

// Returns a tensor in the mapped file.
at::Tensor ViewOf(const models::SafetensorsFile::View& view, at::ScalarType type) {
  return at::from_blob(const_cast<std::byte*>(view.data), view.shape,
                       at::TensorOptions().dtype(type));
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
  status_.Update(DataLoss(file_.path().string(), ": ", name, " ", what));
}

bool TensorReader::Has(const std::string& name) const { return file_.tensors().contains(name); }

int64_t TensorReader::Count(const std::string& prefix, const std::string& suffix) const {
  int64_t number = 0;
  while (Has(StrCat(prefix, number, suffix))) ++number;
  return number;
}

at::Tensor TensorReader::Take(const std::string& name, const std::vector<int64_t>& shape) {
  const StoredTensor stored = Find(name, shape);
  if (!stored.defined()) return {};
  at::Tensor floats =
      stored.Floats().to(device_, at::kFloat, /*non_blocking=*/false, /*copy=*/!stored.coded());
  Release(name);
  return floats;
}

StoredTensor TensorReader::TakeStored(const std::string& name, const std::vector<int64_t>& shape) {
  if (!device_.is_cpu()) return Take(name, shape);
  const StoredTensor stored = Find(name, shape);
  if (!stored.defined()) return {};
  StoredTensor copy = stored.Copy();
  Release(name);
  return copy;
}

StoredTensor TensorReader::TakeToPack(const std::string& name, const std::vector<int64_t>& shape) {
  if (!device_.is_cpu()) return Take(name, shape);
  return Find(name, shape);
}

void TensorReader::Release(const std::string& name) {
  if (const auto view = file_.Find(name); view.ok()) file_.Release(*view);
}

StoredTensor TensorReader::Find(const std::string& name, const std::vector<int64_t>& shape) {
  const auto view = file_.Find(name);
  if (!view.ok()) {
    status_.Update(view.status());
    return {};
  }
  const bool coded = view->type == models::DataType::kUint8;
  if ((view->type != models::DataType::kFp32 && !coded) || !Fits(view->shape, shape)) {
    Refuse(name, StrCat("is ", std::string(models::ToString(view->type)), " [",
                        absl::StrJoin(view->shape, ", "), "], expected FP32 [",
                        absl::StrJoin(shape, ", "), "], -1 being any size"));
    return {};
  }
  if (coded) return ReadCodes(name, *view);
  const at::Tensor values = ViewOf(*view, at::kFloat);
  if (finite_ && !AllFinite(values.const_data_ptr<float>(), static_cast<size_t>(values.numel()))) {
    Refuse(name, "has a value that is not finite, which PRECISION_INT8 cannot round");
    return {};
  }
  return values;
}

StoredTensor TensorReader::ReadCodes(const std::string& name,
                                     const models::SafetensorsFile::View& codes) {
  const auto scale = file_.Find(StrCat(name, ".scale"));
  const auto zero_point = file_.Find(StrCat(name, ".zero_point"));
  for (const auto* const view : {&scale, &zero_point}) status_.Update(view->status());
  if (!scale.ok() || !zero_point.ok()) return {};
  const int64_t rows = scale->shape.empty() ? 0 : scale->shape[0];
  if (scale->type != models::DataType::kFp32 || zero_point->type != models::DataType::kUint8 ||
      scale->shape != std::vector{rows} || zero_point->shape != scale->shape ||
      (rows != 1 && (codes.shape.empty() || rows != codes.shape[0]))) {
    Refuse(name, StrCat("[", absl::StrJoin(codes.shape, ", "), "] has scales ",
                        std::string(models::ToString(scale->type)), " [",
                        absl::StrJoin(scale->shape, ", "), "] and zero points ",
                        std::string(models::ToString(zero_point->type)), " [",
                        absl::StrJoin(zero_point->shape, ", "),
                        "], expected FP32 and UINT8 of one value each, or of one for each row"));
    return {};
  }
  // The values are finite then, too.
  const auto* const scales = reinterpret_cast<const float*>(scale->data);
  if (!std::all_of(scales, scales + rows, [](float factor) {
        return std::abs(factor) <= std::numeric_limits<float>::max() / kMostCode;
      })) {
    Refuse(StrCat(name, ".scale"), "has a value that is not finite, or too large for its codes");
    return {};
  }
  return {ViewOf(codes, at::kByte), ViewOf(*scale, at::kFloat), ViewOf(*zero_point, at::kByte)};
}

at::Tensor TensorReader::TakeIfAny(const std::string& name, const std::vector<int64_t>& shape) {
  return Has(name) ? Take(name, shape) : at::Tensor();
}

}  // namespace millrace::speech
