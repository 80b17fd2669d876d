#include "models/probe/same_output.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>

namespace millrace::models {
namespace {

constexpr float kRelative = 1e-3F;
constexpr float kAbsolute = 1e-4F;

bool Near(float expected, float actual) {
  if (!std::isfinite(expected)) {
    return std::isnan(expected) ? std::isnan(actual) : expected == actual;
  }
  return std::fabs(expected - actual) <= kAbsolute + kRelative * std::fabs(expected);
}

bool SameFloats(std::span<const float> a, std::span<const float> b, bool exact) {
  if (a.size() != b.size()) return false;
  if (exact) return std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
  return std::equal(a.begin(), a.end(), b.begin(), Near);
}

std::vector<float> Floats(const std::string& bytes) {
  std::vector<float> floats(bytes.size() / sizeof(float));
  std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(float));
  return floats;
}

bool SameTensor(const Tensor& a, const Tensor& b, bool exact) {
  if (a.name != b.name || a.type != b.type || a.shape != b.shape) return false;
  if (exact || a.type != DataType::kFp32) return a.data == b.data;
  return SameFloats(Floats(a.data), Floats(b.data), exact);
}

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
    return a.sentence_index == b.sentence_index && SameFloats(a.samples, b.samples, exact);
  }
  template <typename A, typename B>
  bool operator()(const A&, const B&) const {
    return false;
  }
};

}  // namespace

bool SameOutputs(const std::vector<Output>& expected, const std::vector<Output>& actual,
                 runtime::DeviceType device) {
  const Same same{.exact = device == runtime::DeviceType::kCpu};
  return std::equal(expected.begin(), expected.end(), actual.begin(), actual.end(),
                    [&](const Output& a, const Output& b) { return std::visit(same, a, b); });
}

}  // namespace millrace::models
