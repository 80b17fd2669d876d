#include "models/kokoro/fused_lstm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>

#include <string>

#include "mps_runtime/device_operator.h"

namespace millrace::kokoro {
namespace {

using WhyNoLstm = std::string(const at::Tensor& recurrent);
using RunLstm = at::Tensor(const at::Tensor& gates, double scale, const at::Tensor& bias,
                           const at::Tensor& weights, const at::Tensor& counts);

}  // namespace

FusedLstm::FusedLstm(std::span<const at::Tensor> parameters)
    : input_(at::cat({parameters[0], parameters[4]}),
             at::cat({parameters[2] + parameters[3], parameters[6] + parameters[7]})),
      recurrent_(at::stack({parameters[1], parameters[5]}).contiguous()) {}

std::optional<FusedLstm> FusedLstm::Make(std::span<const at::Tensor> parameters) {
  static const auto why_not =
      runtime::FindDeviceOperator<WhyNoLstm>("millrace_kokoro::why_no_lstm");
  if (!why_not || !speech::SplitProduct::SupportedFor(parameters[0])) return std::nullopt;
  if (!why_not->call(parameters[1]).empty()) return std::nullopt;
  return FusedLstm(parameters);
}

at::Tensor FusedLstm::Run(const at::Tensor& x, const KokoroExtent& extent) const {
  static const auto run = *runtime::FindDeviceOperator<RunLstm>("millrace_kokoro::lstm");
  const at::Tensor counts = extent.whole()
                                ? at::full({x.size(0)}, static_cast<double>(x.size(1)), x.options())
                                : extent.counts.contiguous();
  const at::Tensor gates =
      input_.Multiply(speech::SplitProduct::Split(x)).view({x.size(0), x.size(1), input_.out()});
  return run.call(gates, input_.scale(), input_.bias(), recurrent_, counts);
}

}  // namespace millrace::kokoro
