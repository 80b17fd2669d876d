#include "models/torchscript/replace_linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <stdexcept>
#include <string>

namespace millrace::torchscript {
namespace {

at::Tensor Numbers(at::IntArrayRef shape, double step) {
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  return (at::arange(count, at::kFloat) * step).sin().view(shape);
}

// A module with a weight [5, 4], a bias [5] and this body of forward(self, x), inlined.
torch::jit::Module Module(const std::string& body) {
  torch::jit::Module inner("__torch__.Inner");
  inner.register_parameter("weight", Numbers({5, 4}, 0.7), false);
  inner.register_parameter("bias", Numbers({5}, 0.3), false);
  inner.define("def forward(self, x):\n  return torch.linear(x, self.weight, self.bias)\n");
  torch::jit::Module module("__torch__.Outer");
  module.register_module("inner", inner);
  module.register_parameter("weight", Numbers({5, 4}, 0.9), false);
  module.define("def forward(self, x):\n" + body);
  torch::jit::Inline(*module.get_method("forward").graph());
  return module;
}

// Replaces so many, and gives the same numbers for inputs of one to three dimensions.
void ExpectReplaced(int count, const std::string& body) {
  torch::jit::Module original = Module(body);
  torch::jit::Module replaced = Module(body);
  const auto& graph = replaced.get_method("forward").graph();
  EXPECT_EQ(CountLinear(*graph), count);
  EXPECT_EQ(ReplaceLinear(graph), count);
  EXPECT_EQ(CountLinear(*graph), 0);
  graph->lint();
  for (const at::Tensor& x : {Numbers({4}, 0.2), Numbers({3, 4}, 0.2), Numbers({2, 3, 4}, 0.2)}) {
    EXPECT_TRUE(at::allclose(replaced.forward({x}).toTensor(), original.forward({x}).toTensor(),
                             1e-5, 1e-6))
        << x.sizes();
  }
}

TEST(ReplaceLinearTest, WithBias) {
  ExpectReplaced(1, "  return torch.linear(x, self.weight, torch.ones([5]))\n");
}

TEST(ReplaceLinearTest, WithoutBias) {
  ExpectReplaced(1, "  return torch.linear(x, self.weight)\n");
}

TEST(ReplaceLinearTest, InModulesAndBranchesAndLoops) {
  ExpectReplaced(3,
                 "  y = self.inner.forward(x)\n"
                 "  if bool(y.sum() > 0):\n"
                 "    y = y + torch.linear(x, self.weight)\n"
                 "  for i in range(2):\n"
                 "    y = y - torch.linear(x, self.weight)\n"
                 "  return y\n");
}

TEST(ReplaceLinearTest, ABiasThatMayBeNoneIsRefused) {
  torch::jit::Module module("__torch__.Outer");
  module.define(
      "def forward(self, x, bias: Optional[Tensor]):\n"
      "  return torch.linear(x, x, bias)\n");
  try {
    ReplaceLinear(module.get_method("forward").graph());
    ADD_FAILURE() << "accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("a bias that may be None"), std::string::npos);
  }
}

}  // namespace
}  // namespace millrace::torchscript
