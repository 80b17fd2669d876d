#include "models/probe/same_output.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

namespace millrace::models {
namespace {

// Returns the relative error that rounding in a network may cause for this type.
double RelativeTolerance(DataType type) {
  switch (type) {
    case DataType::kFp16:
      return 1e-2;
    case DataType::kBf16:
      return 5e-2;
    default:
      return 1e-3;
  }
}

template <typename T>
bool SameNumbers(std::string_view expected, std::string_view actual, double relative) {
  if (expected.size() != actual.size()) return false;
  for (size_t at = 0; at + sizeof(T) <= expected.size(); at += sizeof(T)) {
    T left, right;
    std::memcpy(&left, &expected[at], sizeof(T));
    std::memcpy(&right, &actual[at], sizeof(T));
    const auto a = static_cast<double>(left), b = static_cast<double>(right);
    if (!std::isfinite(a)) {
      if (std::isnan(a) ? !std::isnan(b) : a != b) return false;
    } else if (!(std::fabs(a - b) <= relative / 10 + relative * std::fabs(a))) {
      return false;
    }
  }
  return true;
}

bool SameTensor(const Tensor& a, const Tensor& b, bool exact) {
  if (a.name != b.name || a.type != b.type || a.shape != b.shape) return false;
  const double relative = RelativeTolerance(a.type);
  if (!exact) {
    if (a.type == DataType::kFp16) return SameNumbers<c10::Half>(a.data, b.data, relative);
    if (a.type == DataType::kBf16) return SameNumbers<c10::BFloat16>(a.data, b.data, relative);
    if (a.type == DataType::kFp32) return SameNumbers<float>(a.data, b.data, relative);
    if (a.type == DataType::kFp64) return SameNumbers<double>(a.data, b.data, relative);
  }
  return a.data == b.data;
}

std::string_view BytesOf(const std::vector<float>& samples) {
  return {reinterpret_cast<const char*>(samples.data()), samples.size() * sizeof(float)};
}

bool SameSamples(const std::vector<float>& a, const std::vector<float>& b, bool exact) {
  if (exact) return BytesOf(a) == BytesOf(b);
  return SameNumbers<float>(BytesOf(a), BytesOf(b), RelativeTolerance(DataType::kFp32));
}

// One overload for each alternative of Output; a new task does not compile without one.
struct Same {
  bool exact;

  bool operator()(const InferOutput& a, const InferOutput& b) const {
    return std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(),
                      [this](const Tensor& x, const Tensor& y) { return SameTensor(x, y, exact); });
  }
  bool operator()(const TranslateOutput& a, const TranslateOutput& b) const {
    return a.text_index == b.text_index && a.text == b.text;
  }
  bool operator()(const SynthesizeOutput& a, const SynthesizeOutput& b) const {
    return a.sentence_index == b.sentence_index && SameSamples(a.samples, b.samples, exact);
  }
};

}  // namespace

bool SameOutputs(const std::vector<Output>& expected, const std::vector<Output>& actual,
                 runtime::DeviceType device) {
  const Same same{.exact = device == runtime::DeviceType::kCpu};
  return std::equal(expected.begin(), expected.end(), actual.begin(), actual.end(),
                    [&](const Output& a, const Output& b) {
                      if (a.index() != b.index()) return false;
                      return std::visit(
                          [&]<typename T>(const T& output) { return same(output, std::get<T>(b)); },
                          a);
                    });
}

}  // namespace millrace::models
