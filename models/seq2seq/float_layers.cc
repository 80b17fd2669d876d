#include "models/seq2seq/float_layers.h"

namespace millrace::seq2seq {

FloatFeedForward::FloatFeedForward(const FloatFeedForwardWeights& weights,
                                   const kernels::LinearKernels& kernels)
    : expand_({weights.expand}, kernels),
      contract_({weights.contract}, kernels),
      norm_(weights.norm) {}

void FloatFeedForward::Run(const LayerSettings& settings, float* x, int64_t rows,
                           LayerScratch& scratch) const {
  RunSublayer(settings, norm_, x, rows, scratch, [&](const float* in, float* out) {
    const int64_t width = expand_.width();
    float* hidden = scratch.wide.Take(rows * width);
    expand_.Multiply(in, settings.dim, rows, scratch.narrow, hidden);
    const auto activate =
        settings.activation == Activation::kRelu ? settings.kernels.relu : settings.kernels.swish;
    activate(hidden, rows * width);
    contract_.Multiply(hidden, width, rows, scratch.narrow, out);
  });
}

FloatEmbeddings::FloatEmbeddings(const kernels::PackedLinear& tokens,
                                 const kernels::FloatMatrix& positions, float scale)
    : tokens_(tokens),
      positions_(positions.values, positions.values + positions.outputs * positions.inputs),
      scale_(scale) {}

void FloatEmbeddings::Lookup(int32_t token, int64_t position, float* out) const {
  const int64_t dim = tokens_.inputs();
  tokens_.CopyOutput(token, out);
  const float* place = positions_.data() + position * dim;
  for (int64_t i = 0; i < dim; ++i) out[i] = out[i] * scale_ + place[i];
}

}  // namespace millrace::seq2seq
