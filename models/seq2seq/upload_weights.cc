#include "models/seq2seq/upload_weights.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "mps_runtime/tensor_device.h"

namespace millrace::seq2seq {
namespace {

// GPU matrix products need a vocabulary that is a multiple of this.
constexpr int64_t kTokensStep = 64;

class Uploader {
 public:
  explicit Uploader(runtime::DeviceType device)
      : device_(runtime::TensorDevice(device)),
        type_(runtime::TraitsOf(device).half_precision ? at::kHalf : at::kFloat) {}

  at::Tensor operator()(const at::Tensor& values) const {
    return values.to(device_, type_, /*non_blocking=*/false, /*copy=*/true);
  }
  at::Tensor operator()(const kernels::FloatMatrix& matrix) const { return (*this)(View(matrix)); }
  AtenNorm operator()(const FloatNormWeights& norm) const {
    return {(*this)(View(norm.scale)), (*this)(View(norm.bias))};
  }
  // Returns the layers side by side in one matrix.
  AtenLinear SideBySide(const std::vector<kernels::FloatLinear>& layers) const {
    std::vector<at::Tensor> weights;
    std::vector<at::Tensor> biases;
    for (const kernels::FloatLinear& layer : layers) {
      weights.push_back(View(layer.matrix));
      biases.push_back(View(layer.bias));
    }
    return {(*this)(at::cat(weights)), (*this)(at::cat(biases))};
  }
  AtenFeedForward operator()(const FloatFeedForwardWeights& layer) const {
    return {SideBySide({layer.expand}), SideBySide({layer.contract}), (*this)(layer.norm)};
  }
  AtenLinear Inputs(const FloatAttentionWeights& layer) const {
    return SideBySide({layer.query, layer.key, layer.value});
  }
  // Pads the vocabulary; the padding is never chosen.
  AtenLinear Output(const kernels::FloatLinear& output) const {
    const int64_t tokens = output.matrix.outputs;
    const int64_t padded = (tokens + kTokensStep - 1) / kTokensStep * kTokensStep;
    const at::Tensor matrix = at::zeros({padded, output.matrix.inputs}, type_);
    matrix.narrow(0, 0, tokens).copy_(View(output.matrix));
    const at::Tensor bias = at::full({padded}, -std::numeric_limits<float>::infinity(), at::kFloat);
    if (output.bias.empty()) {
      bias.narrow(0, 0, tokens).zero_();
    } else {
      bias.narrow(0, 0, tokens).copy_(View(output.bias));
    }
    return {matrix.to(device_), bias.to(device_)};
  }
  at::Tensor Tokens(const std::vector<int32_t>& tokens) const {
    const at::Tensor all = at::empty({static_cast<int64_t>(tokens.size())}, at::kLong);
    std::copy(tokens.begin(), tokens.end(), all.mutable_data_ptr<int64_t>());
    return all.to(device_);
  }

 private:
  static at::Tensor View(std::span<const float> values) {
    return at::from_blob(const_cast<float*>(values.data()), {static_cast<int64_t>(values.size())},
                         at::kFloat);
  }
  static at::Tensor View(const kernels::FloatMatrix& matrix) {
    return at::from_blob(const_cast<float*>(matrix.values), {matrix.outputs, matrix.inputs},
                         at::kFloat);
  }

  const at::Device device_;
  const at::ScalarType type_;
};

}  // namespace

TransformerWeights UploadWeights(const Seq2SeqWeights& weights, const Seq2SeqConfig& config,
                                 runtime::DeviceType device) {
  const c10::InferenceMode inference;
  const Uploader upload(device);
  TransformerWeights uploaded;
  uploaded.encoder_heads = config.encoder_heads;
  uploaded.decoder_heads = config.decoder_heads;
  uploaded.norm_first = config.norm_first;
  uploaded.swish = config.activation == Activation::kSwish;
  uploaded.embedding_scale = config.embedding_scale;
  uploaded.norm_epsilon = config.norm_epsilon;
  uploaded.positions = upload(weights.positions);
  uploaded.output = upload.Output(weights.output);
  uploaded.suppressed = upload.Tokens(config.suppressed);
  const auto embeddings = [&](const kernels::FloatMatrix& matrix) {
    return matrix.values == weights.output.matrix.values ? uploaded.output.weight : upload(matrix);
  };
  uploaded.target_embeddings = embeddings(weights.target_embeddings);
  uploaded.source_embeddings = weights.source_embeddings.values == weights.target_embeddings.values
                                   ? uploaded.target_embeddings
                                   : embeddings(weights.source_embeddings);
  for (const FloatEncoderLayerWeights& layer : weights.encoder) {
    uploaded.encoder.push_back({upload.Inputs(layer.self), upload.SideBySide({layer.self.output}),
                                upload(layer.self.norm), upload(layer.feed_forward)});
  }
  std::vector<kernels::FloatLinear> memory;
  for (const FloatDecoderLayerWeights& layer : weights.decoder) {
    uploaded.decoder.push_back({upload.Inputs(layer.self), upload.SideBySide({layer.self.output}),
                                upload(layer.self.norm), upload.SideBySide({layer.cross.query}),
                                upload.SideBySide({layer.cross.output}), upload(layer.cross.norm),
                                upload(layer.feed_forward)});
    memory.push_back(layer.cross.key);
    memory.push_back(layer.cross.value);
  }
  uploaded.memory = upload.SideBySide(memory);
  if (config.norm_first) {
    uploaded.encoder_norm = upload(weights.encoder_norm);
    uploaded.decoder_norm = upload(weights.decoder_norm);
  }
  return uploaded;
}

}  // namespace millrace::seq2seq
