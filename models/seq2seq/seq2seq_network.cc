#include "models/seq2seq/seq2seq_network.h"

namespace millrace::seq2seq {
namespace {

std::optional<kernels::PackedLinear> PackUnless(bool shared, const kernels::FloatMatrix& matrix,
                                                const kernels::LinearKernels& kernels) {
  if (shared) return std::nullopt;
  return kernels::PackedLinear({kernels::FloatLinear{matrix, {}}}, kernels);
}

}  // namespace

Seq2SeqNetwork::Seq2SeqNetwork(const Seq2SeqWeights& weights, const Seq2SeqConfig& config,
                               const kernels::LinearKernels& kernels)
    : settings_(config, kernels),
      tokens_(weights.tokens()),
      output_({weights.output}, kernels),
      target_tokens_(PackUnless(weights.output.matrix.values == weights.target_embeddings.values,
                                weights.target_embeddings, kernels)),
      source_tokens_(
          PackUnless(weights.source_embeddings.values == weights.target_embeddings.values,
                     weights.source_embeddings, kernels)),
      target_embeddings_(target_tokens_ ? *target_tokens_ : output_, weights.positions,
                         config.embedding_scale),
      source_embeddings_(
          source_tokens_ ? *source_tokens_ : (target_tokens_ ? *target_tokens_ : output_),
          weights.positions, config.embedding_scale),
      encoder_(weights, config, settings_, source_embeddings_),
      decoder_(weights, config, settings_, target_embeddings_, output_) {}

}  // namespace millrace::seq2seq
