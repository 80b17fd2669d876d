#include "models/bergamot/int8_layers.h"

#include <algorithm>
#include <cmath>

#include "models/kernels/parallel_panels.h"

namespace millrace::bergamot {
namespace {

// Multiplies with blocks of the matrix's panels, which idle workers may compute.
void MultiplyBlocks(const kernels::IntegerKernels& kernels, const kernels::Activations& activations,
                    int64_t rows, const kernels::PackedView& matrix, bool relu, float* out) {
  using kernels::kColumns;
  kernels::ForPanels(matrix.outputs / kColumns, rows * matrix.inputs * matrix.outputs,
                     [&](int64_t first, int64_t last) {
                       const int64_t column = first * kColumns;
                       kernels::PackedView part = matrix;
                       part.values += column * matrix.inputs;
                       part.corrections += column;
                       part.scales += column;
                       part.bias += column;
                       part.outputs = (last - first) * kColumns;
                       kernels.multiply(activations, rows, part, relu, out + column);
                     });
}

}  // namespace

LayerBuffers::LayerBuffers(int64_t rows, int64_t dim, int64_t hidden_units, int64_t wide_columns)
    : quantised(rows, dim),
      wide(static_cast<size_t>(rows * wide_columns)),
      mixed(static_cast<size_t>(rows * dim)),
      hidden(static_cast<size_t>(std::min(rows, kHiddenRows) * hidden_units)),
      quantised_hidden(std::min(rows, kHiddenRows), hidden_units) {}

Embeddings::Embeddings(const BergamotWeights& weights)
    : source_(weights.source_embeddings),
      target_(weights.target_embeddings),
      positions_(weights.dim()) {}

void Embeddings::LookupSource(int32_t token, int64_t position, float* x) const {
  Lookup(source_, token, position, x);
}

void Embeddings::LookupTarget(int32_t token, int64_t position, float* x) const {
  Lookup(target_, token, position, x);
}

void Embeddings::Lookup(const Int8Matrix& matrix, int32_t token, int64_t position, float* x) const {
  if (token < 0) {
    std::fill_n(x, matrix.inputs, 0.0F);
  } else {
    const int8_t* row = matrix.values + token * matrix.inputs;
    const float scale = std::sqrt(static_cast<float>(matrix.inputs)) / matrix.multiplier;
    for (int64_t i = 0; i < matrix.inputs; ++i) x[i] = static_cast<float>(row[i]) * scale;
  }
  positions_.Add(position, x);
}

FeedForward::FeedForward(const FeedForwardWeights& weights)
    : expand_({&weights.expand}), contract_({&weights.contract}), norm_(weights.norm) {}

void FeedForward::Run(const kernels::IntegerKernels& kernels, float* x, int64_t rows,
                      LayerBuffers& buffers) const {
  const int64_t dim = contract_.outputs();
  float* hidden = buffers.hidden.data();
  for (int64_t row = 0; row < rows; row += LayerBuffers::kHiddenRows) {
    const int64_t count = std::min(rows - row, LayerBuffers::kHiddenRows);
    float* block = x + row * dim;
    const kernels::Activations in = buffers.quantised.view(dim);
    kernels.quantise(block, count, in);
    MultiplyBlocks(kernels, in, count, expand_.view(), /*relu=*/true, hidden);
    const kernels::Activations between = buffers.quantised_hidden.view(hidden_units());
    kernels.quantise(hidden, count, between);
    // The result overwrites the input, which is no longer needed.
    MultiplyBlocks(kernels, between, count, contract_.view(), /*relu=*/false, hidden);
    AddNorm(kernels, norm_, hidden, count, block);
  }
}

void Multiply(const kernels::IntegerKernels& kernels, const PackedMatrix& matrix, const float* x,
              int64_t rows, QuantisedRows& quantised, float* out) {
  const kernels::PackedView view = matrix.view();
  const kernels::Activations activations = quantised.view(view.inputs);
  kernels.quantise(x, rows, activations);
  MultiplyBlocks(kernels, activations, rows, view, /*relu=*/false, out);
}

void AddNorm(const kernels::IntegerKernels& kernels, const NormWeights& norm, const float* y,
             int64_t rows, float* x) {
  kernels.add_norm(x, y, rows, static_cast<int64_t>(norm.scale.size()), norm.scale.data(),
                   norm.bias.data(), BergamotWeights::kNormEpsilon);
}

}  // namespace millrace::bergamot
