#include "mps_runtime/probe/operators.h"

#include <ATen/ops/add.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>

#include <stdexcept>
#include <string>

#include "mps_runtime/probe/tensors.h"

namespace millrace::runtime {
namespace {

using Tensors = std::vector<at::Tensor>;

constexpr Operator kOperators[] = {
    {"matmul",
     [](at::Device device, int seed) {
       return Tensors{Numbers({96, 64}, device, seed), Numbers({64, 96}, device, seed + 1)};
     },
     [](const Tensors& in) { return at::matmul(in[0], in[1]); }},
    {"linear",
     [](at::Device device, int seed) {
       return Tensors{Numbers({8, 128}, device, seed), Numbers({64, 128}, device, 1),
                      Numbers({64}, device, 2)};
     },
     [](const Tensors& in) { return at::linear(in[0], in[1], in[2]); }},
    {"conv1d",
     [](at::Device device, int seed) {
       return Tensors{Numbers({1, 16, 200}, device, seed), Numbers({32, 16, 5}, device, 3)};
     },
     [](const Tensors& in) { return at::conv1d(in[0], in[1]); }},
    {"layer_norm",
     [](at::Device device, int seed) {
       return Tensors{Numbers({32, 128}, device, seed), Numbers({128}, device, 4),
                      Numbers({128}, device, 5)};
     },
     [](const Tensors& in) { return at::layer_norm(in[0], {128}, in[1], in[2]); }},
    {"softmax",
     [](at::Device device, int seed) {
       return Tensors{Numbers({4, 32, 32}, device, seed)};
     },
     [](const Tensors& in) { return at::softmax(in[0], -1); }},
    {"gelu",
     [](at::Device device, int seed) {
       return Tensors{Numbers({64, 64}, device, seed), Numbers({64, 64}, device, 6)};
     },
     [](const Tensors& in) { return at::gelu(at::add(in[0], in[1])); }},
};

}  // namespace

std::span<const Operator> Operators() { return kOperators; }

const Operator& FindOperator(std::string_view name) {
  for (const Operator& op : kOperators) {
    if (op.name == name) return op;
  }
  std::string known;
  for (const Operator& op : kOperators) known += (known.empty() ? "" : ", ") + std::string(op.name);
  throw std::invalid_argument("operator " + std::string(name) + ": allowed are " + known);
}

at::Tensor RunToHost(const Operator& op, at::Device device, int seed, WorkerContext& context) {
  const at::Tensor result = op.run(op.inputs(device, seed));
  context.Synchronize();
  return result.to(at::kCPU);
}

}  // namespace millrace::runtime
