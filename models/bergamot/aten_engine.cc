#include "models/bergamot/aten_engine.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "models/bergamot/bergamot_weights.h"
#include "models/bergamot/positions.h"
#include "models/bergamot/shortlist.h"
#include "models/core/strings.h"
#include "mps_runtime/linear.h"
#include "mps_runtime/tensor_device.h"

namespace millrace::bergamot {
namespace {

constexpr size_t kShortestSource = 8;  // tokens
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

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

struct Attention {
  Linear query, key, value, output;
  Norm norm;
  int64_t heads;

  // [batch, heads, rows, head size]
  at::Tensor Split(const at::Tensor& x) const {
    return x.view({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
  }
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& keys, const at::Tensor& values,
                        const at::Tensor& mask) const {
    const at::Tensor queries = Split(query(x));
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
  Uploader(at::Device device, int64_t heads) : device_(device), heads_(heads) {}

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
    return {(*this)(w.query),  (*this)(w.key),  (*this)(w.value),
            (*this)(w.output), (*this)(w.norm), heads_};
  }
  FeedForward operator()(const FeedForwardWeights& w) const {
    return {(*this)(w.expand), (*this)(w.contract), (*this)(w.norm)};
  }

 private:
  const at::Device device_;
  const int64_t heads_;
};

// The state of a batch between steps. A sentence keeps its row when others end, so that shapes stay
// those of the first step.
struct DecoderState {
  std::vector<size_t> active;            // rows of sentences that are not finished
  at::Tensor y;                          // [batch, dim], embedding of the last token
  std::vector<at::Tensor> cells;         // per layer [batch, dim]
  std::vector<at::Tensor> keys, values;  // per layer [batch, heads, length, head size]
  at::Tensor mask;                       // [batch, 1, 1, length]
  at::Tensor bias;                       // [batch, tokens]; minus infinity for no candidates
};

class AtenEngine final : public translation::TranslationEngine {
 public:
  AtenEngine(const BergamotWeights& weights, at::Device device, std::string model)
      : device_(device),
        model_(std::move(model)),
        shortlist_(weights.shortlist, weights.target_tokens()),
        dim_(weights.dim()) {
    const c10::InferenceMode inference;
    const Uploader upload(device, weights.heads);
    target_embeddings_ = upload(weights.target_embeddings);
    source_embeddings_ = weights.source_embeddings.values == weights.target_embeddings.values
                             ? target_embeddings_
                             : upload(weights.source_embeddings);
    output_bias_ = upload(weights.output_bias);
    for (const auto& w : weights.encoder) {
      encoder_.push_back({upload(w.attention), upload(w.feed_forward)});
    }
    for (const auto& w : weights.decoder) {
      decoder_.push_back({upload(w.forget), upload(w.candidate), upload(w.norm), upload(w.cross),
                          upload(w.feed_forward)});
    }
  }

  void Advance(std::span<translation::SentenceJob* const> jobs, size_t,
               absl::FunctionRef<bool(size_t)> should_stop,
               runtime::WorkerContext& context) const override {
    const c10::InferenceMode inference;
    if (jobs.empty()) return;
    DecoderState state = Start(jobs, context);
    for (int64_t step = 0; Leave(jobs, should_stop, state); ++step) {
      const at::Tensor tokens = Step(state, step).to(at::kCPU);
      const int64_t* token = tokens.const_data_ptr<int64_t>();
      for (const size_t row : state.active) {
        jobs[row]->target.push_back(static_cast<int32_t>(token[row]));
      }
    }
  }

 private:
  // Returns the tokens of each source, padded with -1 to a rectangle, whose number of rows and
  // width are padded to powers of two. Rows that are added are copies of the first.
  at::Tensor Sources(std::span<translation::SentenceJob* const> jobs) const {
    size_t width = kShortestSource;
    for (const translation::SentenceJob* job : jobs)
      width = std::max(width, std::bit_ceil(job->source.size()));
    const size_t height = std::bit_ceil(jobs.size());
    const at::Tensor tokens =
        at::full({static_cast<int64_t>(height), static_cast<int64_t>(width)}, -1, at::kInt);
    int32_t* out = tokens.mutable_data_ptr<int32_t>();
    for (size_t i = 0; i < height; ++i, out += width) {
      const std::vector<int32_t>& source = jobs[i < jobs.size() ? i : 0]->source;
      std::copy(source.begin(), source.end(), out);
    }
    return tokens.to(device_);
  }

  // Returns 0 for tokens of each sentence's shortlist and minus infinity for all others. Choosing
  // from all tokens keeps the shapes the same and costs a GPU next to nothing.
  at::Tensor Choices(std::span<translation::SentenceJob* const> jobs, int64_t rows) const {
    const at::Tensor mask = at::full({rows, output_bias_.size(0)}, kMinusInfinity, at::kFloat);
    float* row = mask.mutable_data_ptr<float>();
    for (size_t i = 0; i < static_cast<size_t>(rows); ++i, row += output_bias_.size(0)) {
      const translation::SentenceJob& job = *jobs[i < jobs.size() ? i : 0];
      for (const int32_t token : shortlist_.Candidates(job.source)) row[token] = 0;
    }
    return mask.to(device_);
  }

  at::Tensor Embed(const at::Tensor& embeddings, const at::Tensor& tokens) const {
    return embeddings.index_select(0, tokens.flatten()) * std::sqrt(static_cast<double>(dim_));
  }

  at::Tensor Positions(int64_t begin, int64_t count) const {
    std::vector<float> table(static_cast<size_t>(count * dim_));
    FillPositions(begin, dim_, table);
    return at::from_blob(table.data(), {count, dim_}, at::kFloat).clone().to(device_);
  }

  // Encodes the batch and computes what the decoder reads of it.
  DecoderState Start(std::span<translation::SentenceJob* const> jobs,
                     runtime::WorkerContext& context) const {
    DecoderState state;
    state.active.resize(jobs.size());
    std::iota(state.active.begin(), state.active.end(), size_t{0});
    const at::Tensor tokens = Sources(jobs);
    const int64_t batch = tokens.size(0);
    const int64_t length = tokens.size(1);
    if (runtime::TraitsOf(context.stream().device).compiles_shapes) {
      context.AdmitShape(
          {.model = model_, .entry_point = "translate", .shape_bucket = (batch << 32) + length},
          [&] { return StrCat("[", batch, ", ", length, "]"); });
    }
    state.mask = at::zeros({batch, 1, 1, length}, source_embeddings_.options())
                     .masked_fill_(tokens.lt(0).view({batch, 1, 1, length}), kMinusInfinity);
    at::Tensor x = Embed(source_embeddings_, tokens.clamp_min(0)).view({batch, length, dim_}) +
                   Positions(0, length);
    for (const EncoderLayer& layer : encoder_) {
      const Attention& attention = layer.attention;
      x = attention(x, attention.Split(attention.key(x)), attention.Split(attention.value(x)),
                    state.mask);
      x = layer.feed_forward(x);
    }
    for (const DecoderLayer& layer : decoder_) {
      state.keys.push_back(layer.cross.Split(layer.cross.key(x)).contiguous());
      state.values.push_back(layer.cross.Split(layer.cross.value(x)).contiguous());
      state.cells.push_back(at::zeros({batch, dim_}, x.options()));
    }
    state.y = at::zeros({batch, dim_}, x.options());
    state.bias = output_bias_ + Choices(jobs, batch);
    return state;
  }

  // Returns the next token of each row, int64 [batch], and advances the state.
  at::Tensor Step(DecoderState& state, int64_t step) const {
    at::Tensor x = state.y + Positions(step, 1);
    for (size_t i = 0; i < decoder_.size(); ++i) {
      const DecoderLayer& layer = decoder_[i];
      state.cells[i] = at::lerp(layer.candidate(x), state.cells[i], at::sigmoid(layer.forget(x)));
      x = layer.norm(x + at::relu(state.cells[i])).unsqueeze(1);
      x = layer.cross(x, state.keys[i], state.values[i], state.mask);
      x = layer.feed_forward(x).squeeze(1);
    }
    at::Tensor tokens = (runtime::Linear(x, target_embeddings_) + state.bias).argmax(1);
    state.y = Embed(target_embeddings_, tokens);
    return tokens;
  }

  // Removes finished and stopped sentences from the batch. Returns false when none is left.
  bool Leave(std::span<translation::SentenceJob* const> jobs,
             absl::FunctionRef<bool(size_t)> should_stop, DecoderState& state) const {
    std::erase_if(state.active, [&](size_t row) {
      translation::SentenceJob& job = *jobs[row];
      if (!job.target.empty() && job.target.back() == BergamotWeights::kEndOfSentence) {
        job.target.pop_back();
        job.done = true;
        return true;
      }
      job.stopped = should_stop(row);
      job.done = !job.stopped && job.target.size() >= job.max_target;
      return !job.at_work();
    });
    return !state.active.empty();
  }

  const at::Device device_;
  const std::string model_;
  const Shortlist shortlist_;
  const int64_t dim_;
  at::Tensor source_embeddings_;  // the target's where the languages share them
  at::Tensor target_embeddings_;
  at::Tensor output_bias_;
  std::vector<EncoderLayer> encoder_;
  std::vector<DecoderLayer> decoder_;
};

}  // namespace

std::unique_ptr<translation::TranslationEngine> MakeAtenEngine(const BergamotWeights& weights,
                                                               runtime::DeviceType device,
                                                               std::string model) {
  return std::make_unique<AtenEngine>(weights, runtime::TensorDevice(device), std::move(model));
}

}  // namespace millrace::bergamot
