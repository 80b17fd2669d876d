#include "models/torchscript/replace_linear.h"

#include <ATen/core/interned_strings.h>
#include <torch/csrc/jit/ir/ir.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace millrace::torchscript {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

void Collect(Block* block, std::vector<Node*>& linears) {
  for (Node* node : block->nodes()) {
    if (node->kind() == c10::aten::linear) linears.push_back(node);
    for (Block* inner : node->blocks()) Collect(inner, linears);
  }
}

std::vector<Node*> LinearsOf(const Graph& graph) {
  std::vector<Node*> linears;
  Collect(const_cast<Graph&>(graph).block(), linears);  // there is no const walk over a block
  return linears;
}

void Replace(Graph& graph, Node* linear) {
  Value* const input = linear->input(0);
  Value* const weight = linear->input(1);
  Value* const bias = linear->input(2);
  const torch::jit::WithInsertPoint here(linear);
  Value* result = graph.insert(c10::aten::matmul, {input, graph.insert(c10::aten::t, {weight})});
  if (bias->type()->kind() == c10::TypeKind::OptionalType) {
    throw std::runtime_error("nn.Linear at " + linear->sourceRange().str() +
                             " has a bias that may be None: make it a Tensor or None for good");
  }
  if (bias->type()->kind() == c10::TypeKind::TensorType)
    result = graph.insert(c10::aten::add, {result, bias});
  result->copyMetadata(linear->output());
  linear->output()->replaceAllUsesWith(result);
  linear->destroy();
}

}  // namespace

int ReplaceLinear(const std::shared_ptr<Graph>& graph) {
  const std::vector<Node*> linears = LinearsOf(*graph);
  for (Node* linear : linears) Replace(*graph, linear);
  if (const int left = CountLinear(*graph); left > 0)
    throw std::runtime_error(std::to_string(left) + " nn.Linear could not be replaced");
  return static_cast<int>(linears.size());
}

int CountLinear(const Graph& graph) { return static_cast<int>(LinearsOf(graph).size()); }

}  // namespace millrace::torchscript
