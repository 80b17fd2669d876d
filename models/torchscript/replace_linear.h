#pragma once

#include <memory>

namespace torch::jit {
struct Graph;
}

namespace millrace::torchscript {

// Replaces each aten::linear of the graph, nested blocks included, by a matrix product and an
// addition, because libtorch's kernel for it on Apple's GPU is one object for all threads without a
// lock. Function and method calls must have been inlined. Throws std::runtime_error when only run
// time can tell whether there is a bias, and when an aten::linear is left. Returns how many it
// replaced.
int ReplaceLinear(const std::shared_ptr<torch::jit::Graph>& graph);

// Counts the aten::linear nodes of the graph, nested blocks included.
int CountLinear(const torch::jit::Graph& graph);

}  // namespace millrace::torchscript
