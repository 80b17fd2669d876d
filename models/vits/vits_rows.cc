#include "models/vits/vits_rows.h"

#include <ATen/ops/layer_norm.h>

#include "models/core/strings.h"

namespace millrace::vits {
namespace {

constexpr double kNormEpsilon = 1e-5;

}  // namespace

VitsNorm::VitsNorm(VitsWeights& weights, const std::string& name, int64_t channels)
    : gamma_(weights.Take(StrCat(name, ".gamma"), {channels})),
      beta_(weights.Take(StrCat(name, ".beta"), {channels})) {}

at::Tensor VitsNorm::Run(const at::Tensor& x) const {
  return at::layer_norm(x, gamma_.sizes(), gamma_, beta_, kNormEpsilon);
}

}  // namespace millrace::vits
