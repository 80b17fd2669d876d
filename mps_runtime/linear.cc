#include "mps_runtime/linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>

namespace millrace::runtime {

at::Tensor Linear(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias) {
  if (!input.is_mps()) return at::linear(input, weight, bias);
  if (bias.defined() && input.dim() == 2) return at::addmm(bias, input, weight.t());
  const at::Tensor product = at::matmul(input, weight.t());
  return bias.defined() ? product + bias : product;
}

}  // namespace millrace::runtime
