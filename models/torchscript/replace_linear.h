#pragma once

#include <memory>

namespace torch::jit {
struct Graph;
}

namespace millrace::torchscript {

// Replaces each aten::linear of the graph, nested blocks included, by a matrix product and an
// addition: libtorch's kernel for it on Apple's GPU is one object for all threads, without a lock.
// Calls of functions and methods must have been inlined. Throws std::runtime_error when a bias may
// or may not be there only at run time, and when one is left. Returns how many it replaced.
int ReplaceLinear(const std::shared_ptr<torch::jit::Graph>& graph);

// The aten::linear nodes of the graph, nested blocks included.
int CountLinear(const torch::jit::Graph& graph);

}  // namespace millrace::torchscript
