#include "models/translation/aten_engine.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "models/translation/bergamot_weights.h"
#include "models/translation/positions.h"
#include "models/translation/shortlist.h"
#include "mps_runtime/linear.h"

namespace millrace::models {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

at::Device ToDevice(runtime::DeviceType device) {
  switch (device) {
    case runtime::DeviceType::kCpu:
      return at::kCPU;
    case runtime::DeviceType::kCuda:
      return at::kCUDA;
    case runtime::DeviceType::kMps:
      return at::kMPS;
  }
  return at::kCPU;
}

struct Linear {
  at::Tensor weight;
  at::Tensor bias;

  at::Tensor operator()(const at::Tensor& x) const { return runtime::Linear(x, weight, bias); }
};

struct Norm {
  at::Tensor scale;
  at::Tensor bias;

  at::Tensor operator()(const at::Tensor& x) const {
    return at::layer_norm(x, {x.size(-1)}, scale, bias, BergamotWeights::kNormEpsilon);
  }
};

// [batch, heads, rows, head size]
at::Tensor SplitHeads(const at::Tensor& x) {
  return x.view({x.size(0), x.size(1), BergamotWeights::kHeads, -1}).transpose(1, 2);
}

struct Attention {
  Linear query, key, value, output;
  Norm norm;

  at::Tensor operator()(const at::Tensor& x, const at::Tensor& keys, const at::Tensor& values,
                        const at::Tensor& mask) const {
    const at::Tensor queries = SplitHeads(query(x));
    const double scale = 1 / std::sqrt(static_cast<double>(queries.size(-1)));
    const at::Tensor scores = at::matmul(queries, keys.transpose(-1, -2)) * scale + mask;
    const at::Tensor mixed = at::matmul(at::softmax(scores, -1), values);
    return norm(x + output(mixed.transpose(1, 2).reshape(x.sizes())));
  }
};

struct FeedForward {
  Linear expand, contract;
  Norm norm;

  at::Tensor operator()(const at::Tensor& x) const {
    return norm(x + contract(at::relu(expand(x))));
  }
};

struct EncoderLayer {
  Attention attention;
  FeedForward feed_forward;
};

struct DecoderLayer {
  Linear forget, candidate;
  Norm norm;
  Attention cross;
  FeedForward feed_forward;
};

// Copies weights to the device as float32.
class Uploader {
 public:
  explicit Uploader(at::Device device) : device_(device) {}

  at::Tensor operator()(std::span<const float> values) const {
    return at::from_blob(const_cast<float*>(values.data()), {static_cast<int64_t>(values.size())},
                         at::kFloat)
        .to(device_, at::kFloat, /*non_blocking=*/false, /*copy=*/true);
  }
  at::Tensor operator()(const Int8Matrix& matrix) const {
    return at::from_blob(const_cast<int8_t*>(matrix.values), {matrix.outputs, matrix.inputs},
                         at::kChar)
        .to(device_, at::kFloat)
        .div_(matrix.multiplier);
  }
  Linear operator()(const LinearWeights& w) const {
    return {(*this)(w.matrix), w.bias.empty() ? at::Tensor() : (*this)(w.bias)};
  }
  Norm operator()(const NormWeights& w) const { return {(*this)(w.scale), (*this)(w.bias)}; }
  Attention operator()(const AttentionWeights& w) const {
    return {(*this)(w.query), (*this)(w.key), (*this)(w.value), (*this)(w.output), (*this)(w.norm)};
  }
  FeedForward operator()(const FeedForwardWeights& w) const {
    return {(*this)(w.expand), (*this)(w.contract), (*this)(w.norm)};
  }

 private:
  const at::Device device_;
};

// What the sentences of a batch carry from step to step; row i of every tensor is sentence
// active[i].
struct DecoderState {
  std::vector<size_t> active;
  at::Tensor y;                          // [batch, dim], embedding of the last word
  std::vector<at::Tensor> cells;         // per layer [batch, dim]
  std::vector<at::Tensor> keys, values;  // per layer [batch, heads, length, head size]
  at::Tensor mask;                       // [batch, 1, 1, length]
  at::Tensor candidates;                 // [batch, candidates], words
  at::Tensor embeddings;                 // [batch, candidates, dim]
  at::Tensor bias;                       // [batch, candidates]; padding is minus infinity

  // Keeps only the given rows.
  void Select(const at::Tensor& rows) {
    for (at::Tensor* tensor : {&y, &mask, &candidates, &embeddings, &bias}) {
      *tensor = tensor->index_select(0, rows);
    }
    for (auto* tensors : {&cells, &keys, &values}) {
      for (at::Tensor& tensor : *tensors) tensor = tensor.index_select(0, rows);
    }
  }
};

class AtenEngine final : public TranslationEngine {
 public:
  AtenEngine(const BergamotWeights& weights, at::Device device)
      : device_(device), shortlist_(weights.shortlist, weights.words()), dim_(weights.dim()) {
    const c10::InferenceMode inference;
    const Uploader upload(device);
    embeddings_ = upload(weights.embeddings);
    output_bias_ = upload(weights.output_bias);
    for (const auto& w : weights.encoder) {
      encoder_.push_back({upload(w.attention), upload(w.feed_forward)});
    }
    for (const auto& w : weights.decoder) {
      decoder_.push_back({upload(w.forget), upload(w.candidate), upload(w.norm), upload(w.cross),
                          upload(w.feed_forward)});
    }
  }

  void Translate(std::span<SentenceJob> jobs, absl::FunctionRef<bool(size_t)> should_stop,
                 runtime::WorkerContext&) const override {
    const c10::InferenceMode inference;
    if (jobs.empty()) return;
    DecoderState state = Start(jobs);
    for (int64_t step = 0; Leave(jobs, should_stop, state); ++step) {
      const at::Tensor words = Step(state, step).to(at::kCPU);
      const int64_t* word = words.const_data_ptr<int64_t>();
      for (const size_t job : state.active) {
        jobs[job].target.push_back(static_cast<int32_t>(*word++));
      }
    }
  }

 private:
  // Pads lists of words to one rectangle.
  at::Tensor Padded(const std::vector<std::span<const int32_t>>& rows, int32_t padding) const {
    size_t width = 0;
    for (const auto& row : rows) width = std::max(width, row.size());
    at::Tensor padded = at::full({static_cast<int64_t>(rows.size()), static_cast<int64_t>(width)},
                                 padding, at::kInt);
    int32_t* out = padded.mutable_data_ptr<int32_t>();
    for (const auto& row : rows) {
      std::copy(row.begin(), row.end(), out);
      out += width;
    }
    return padded.to(device_);
  }

  at::Tensor Embed(const at::Tensor& words) const {
    return embeddings_.index_select(0, words.flatten()) * std::sqrt(static_cast<double>(dim_));
  }

  at::Tensor Positions(int64_t begin, int64_t count) const {
    std::vector<float> table(static_cast<size_t>(count * dim_));
    FillPositions(begin, dim_, table);
    return at::from_blob(table.data(), {count, dim_}, at::kFloat).clone().to(device_);
  }

  // Encodes the batch and lays out what the decoder needs of it.
  DecoderState Start(std::span<SentenceJob> jobs) const {
    DecoderState state;
    std::vector<std::span<const int32_t>> sources;
    std::vector<std::vector<int32_t>> lists;
    for (size_t i = 0; i < jobs.size(); ++i) {
      state.active.push_back(i);
      sources.emplace_back(jobs[i].source);
      lists.push_back(shortlist_.Candidates(jobs[i].source));
    }
    const at::Tensor words = Padded(sources, -1);
    const int64_t batch = words.size(0);
    const int64_t length = words.size(1);
    state.mask = at::zeros({batch, 1, 1, length}, embeddings_.options())
                     .masked_fill_(words.lt(0).view({batch, 1, 1, length}), kMinusInfinity);
    at::Tensor x = Embed(words.clamp_min(0)).view({batch, length, dim_}) + Positions(0, length);
    for (const EncoderLayer& layer : encoder_) {
      const Attention& attention = layer.attention;
      x = attention(x, SplitHeads(attention.key(x)), SplitHeads(attention.value(x)), state.mask);
      x = layer.feed_forward(x);
    }
    for (const DecoderLayer& layer : decoder_) {
      state.keys.push_back(SplitHeads(layer.cross.key(x)).contiguous());
      state.values.push_back(SplitHeads(layer.cross.value(x)).contiguous());
      state.cells.push_back(at::zeros({batch, dim_}, x.options()));
    }
    state.y = at::zeros({batch, dim_}, x.options());
    const at::Tensor candidates = Padded({lists.begin(), lists.end()}, -1);
    state.candidates = candidates.clamp_min(0);
    state.embeddings = embeddings_.index_select(0, state.candidates.flatten())
                           .view({batch, candidates.size(1), dim_});
    state.bias = output_bias_.index_select(0, state.candidates.flatten())
                     .view(candidates.sizes())
                     .masked_fill(candidates.lt(0), kMinusInfinity);
    return state;
  }

  // The next word of each active sentence, as int64 [batch]; advances the state.
  at::Tensor Step(DecoderState& state, int64_t step) const {
    at::Tensor x = state.y + Positions(step, 1);
    for (size_t i = 0; i < decoder_.size(); ++i) {
      const DecoderLayer& layer = decoder_[i];
      state.cells[i] = at::lerp(layer.candidate(x), state.cells[i], at::sigmoid(layer.forget(x)));
      x = layer.norm(x + at::relu(state.cells[i])).unsqueeze(1);
      x = layer.cross(x, state.keys[i], state.values[i], state.mask);
      x = layer.feed_forward(x).squeeze(1);
    }
    const at::Tensor logits = at::matmul(state.embeddings, x.unsqueeze(2)).squeeze(2) + state.bias;
    const at::Tensor words =
        state.candidates.gather(1, logits.argmax(1, /*keepdim=*/true)).squeeze(1);
    state.y = Embed(words);
    return words.to(at::kLong);
  }

  // Lets finished and stopped sentences leave the batch; false when none is left.
  bool Leave(std::span<SentenceJob> jobs, absl::FunctionRef<bool(size_t)> should_stop,
             DecoderState& state) const {
    std::vector<int64_t> rows;
    std::vector<size_t> active;
    for (size_t row = 0; row < state.active.size(); ++row) {
      SentenceJob& job = jobs[state.active[row]];
      if (!job.target.empty() && job.target.back() == BergamotWeights::kEndOfSentence) {
        job.target.pop_back();
      } else if (should_stop(state.active[row])) {
        job.stopped = true;
      } else if (job.target.size() < job.max_target) {
        rows.push_back(static_cast<int64_t>(row));
        active.push_back(state.active[row]);
      }
    }
    if (active.size() < state.active.size() && !active.empty()) {
      state.Select(at::tensor(rows).to(device_));
    }
    state.active = std::move(active);
    return !state.active.empty();
  }

  const at::Device device_;
  const Shortlist shortlist_;
  const int64_t dim_;
  at::Tensor embeddings_;
  at::Tensor output_bias_;
  std::vector<EncoderLayer> encoder_;
  std::vector<DecoderLayer> decoder_;
};

}  // namespace

std::unique_ptr<TranslationEngine> MakeAtenEngine(const BergamotWeights& weights,
                                                  runtime::DeviceType device) {
  return std::make_unique<AtenEngine>(weights, ToDevice(device));
}

}  // namespace millrace::models
