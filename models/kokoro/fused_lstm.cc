#include "models/kokoro/fused_lstm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/stack.h>

#include <string>

#include "mps_runtime/device_operator.h"

namespace millrace::kokoro {
namespace {

using WhyNoLstm = std::string(const at::Tensor& weights);
using RunLstm = at::Tensor(const at::Tensor& gates, const at::Tensor& weights,
                           const at::Tensor& counts);

}  // namespace

std::optional<FusedLstm> FusedLstm::Make(std::span<const at::Tensor> parameters) {
  static const auto why_not =
      runtime::FindDeviceOperator<WhyNoLstm>("millrace_kokoro::why_no_lstm");
  if (!why_not || !parameters[0].is_cuda()) return std::nullopt;
  FusedLstm lstm;
  lstm.recurrent_ = at::stack({parameters[1], parameters[5]}).contiguous();
  if (!why_not->call(lstm.recurrent_).empty()) return std::nullopt;
  lstm.input_ = at::cat({parameters[0], parameters[4]});
  lstm.bias_ = at::cat({parameters[2] + parameters[3], parameters[6] + parameters[7]});
  return lstm;
}

at::Tensor FusedLstm::Run(const at::Tensor& x, const KokoroExtent& extent) const {
  static const auto run = *runtime::FindDeviceOperator<RunLstm>("millrace_kokoro::lstm");
  const at::Tensor counts = extent.whole()
                                ? at::full({x.size(0)}, static_cast<double>(x.size(1)), x.options())
                                : extent.counts.contiguous();
  return run.call(at::linear(x, input_, bias_).contiguous(), recurrent_, counts);
}

}  // namespace millrace::kokoro
