#include "tests/conformance/operators.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/softmax.h>

namespace millrace::conformance {
namespace {

constexpr Operator kOperators[] = {
    {"matmul",
     [](at::Device device, int seed) {
       return at::matmul(Numbers({96, 64}, device, seed), Numbers({64, 96}, device, seed + 1));
     }},
    {"linear",
     [](at::Device device, int seed) {
       return at::linear(Numbers({8, 128}, device, seed), Numbers({64, 128}, device, 1),
                         Numbers({64}, device, 2));
     }},
    {"conv1d",
     [](at::Device device, int seed) {
       return at::conv1d(Numbers({1, 16, 200}, device, seed), Numbers({32, 16, 5}, device, 3));
     }},
    {"layer_norm",
     [](at::Device device, int seed) {
       return at::layer_norm(Numbers({32, 128}, device, seed), {128}, Numbers({128}, device, 4),
                             Numbers({128}, device, 5));
     }},
    {"softmax",
     [](at::Device device, int seed) {
       return at::softmax(Numbers({4, 32, 32}, device, seed), -1);
     }},
    {"gelu",
     [](at::Device device, int seed) {
       return at::gelu(at::add(Numbers({64, 64}, device, seed), Numbers({64, 64}, device, 6)));
     }},
};

}  // namespace

std::span<const Operator> Operators() { return kOperators; }

at::Tensor RunToHost(const Operator& op, at::Device device, int seed,
                     runtime::WorkerContext& context) {
  const at::Tensor result = op.run(device, seed);
  context.Synchronize();
  return result.to(at::kCPU);
}

at::Tensor Numbers(at::IntArrayRef shape, at::Device device, int seed) {
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  const at::Tensor ramp = at::arange(count, at::TensorOptions().dtype(at::kFloat));
  return at::sin(ramp * 12.9898 + seed).reshape(shape).to(device);
}

}  // namespace millrace::conformance
