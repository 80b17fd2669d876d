#include "models/seq2seq/seq2seq_weights.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/strings.h"

namespace millrace::seq2seq {
namespace {

constexpr int64_t kMaxHidden = 1 << 16;
constexpr int64_t kMaxTokens = 1 << 20;
constexpr int64_t kFewestPositions = 16;

// Reads float32 tensors of expected shapes. After the first failure everything that is read is
// empty.
class Reader {
 public:
  Reader(const models::SafetensorsFile& file, int64_t dim) : file_(file), dim_(dim) {}

  const absl::Status& status() const { return status_; }
  bool Has(const std::string& name) const { return file_.tensors().contains(name); }
  void Fail(const std::string& name, const std::string& what) {
    if (status_.ok()) {
      status_ = DataLoss(file_.path().string(), ": tensor '", name, "': ", what);
    }
  }

  std::span<const float> Vector(const std::string& name, int64_t size) {
    const models::SafetensorsFile::View view = Find(name, {size});
    return {reinterpret_cast<const float*>(view.data), view.bytes / sizeof(float)};
  }
  // A negative size accepts any.
  kernels::FloatMatrix Matrix(const std::string& name, int64_t outputs, int64_t inputs) {
    const models::SafetensorsFile::View view = Find(name, {outputs, inputs});
    if (!status_.ok()) return {};
    return {reinterpret_cast<const float*>(view.data), view.shape[0], view.shape[1]};
  }
  kernels::FloatLinear Linear(const std::string& name, int64_t outputs, int64_t inputs) {
    kernels::FloatLinear linear;
    linear.matrix = Matrix(name + ".weight", outputs, inputs);
    linear.bias = Vector(name + ".bias", linear.matrix.outputs);
    return linear;
  }
  FloatNormWeights Norm(const std::string& name) {
    return {Vector(name + ".weight", dim_), Vector(name + ".bias", dim_)};
  }
  FloatAttentionWeights Attention(const std::string& name) {
    return {Linear(name + ".query", dim_, dim_), Linear(name + ".key", dim_, dim_),
            Linear(name + ".value", dim_, dim_), Linear(name + ".output", dim_, dim_),
            Norm(name + ".norm")};
  }
  FloatFeedForwardWeights FeedForward(const std::string& name) {
    FloatFeedForwardWeights weights;
    weights.expand = Linear(name + ".expand", -1, dim_);
    const int64_t hidden = weights.expand.matrix.outputs;
    if (status_.ok() && (hidden % kernels::kFloatPanel != 0 || hidden > kMaxHidden)) {
      Fail(name + ".expand.weight",
           StrCat(hidden, " hidden units are not supported; allowed are multiples of ",
                  kernels::kFloatPanel, " up to ", kMaxHidden));
    }
    weights.contract = Linear(name + ".contract", dim_, hidden);
    weights.norm = Norm(name + ".norm");
    return weights;
  }

 private:
  models::SafetensorsFile::View Find(const std::string& name, const std::vector<int64_t>& shape) {
    if (!status_.ok()) return {};
    auto view = file_.Find(name);
    if (!view.ok()) {
      Fail(name, "missing");
      return {};
    }
    bool fits = view->type == models::DataType::kFp32 && view->shape.size() == shape.size();
    for (size_t i = 0; fits && i < shape.size(); ++i) {
      fits = shape[i] < 0 ? view->shape[i] > 0 : view->shape[i] == shape[i];
    }
    if (!fits) {
      Fail(name, StrCat("is ", std::string(models::ToString(view->type)), " [",
                        absl::StrJoin(view->shape, ", "), "], expected FP32 [",
                        absl::StrJoin(shape, ", "), "] (-1: any)"));
      return {};
    }
    return *std::move(view);
  }

  const models::SafetensorsFile& file_;
  const int64_t dim_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<Seq2SeqWeights> Seq2SeqWeights::Load(const std::filesystem::path& path,
                                                    const Seq2SeqConfig& config) {
  MILLRACE_ASSIGN_OR_RETURN(auto file, models::SafetensorsFile::Open(path));
  Seq2SeqWeights weights;
  Reader reader(weights.file_.emplace(std::move(file)), config.dim);
  weights.target_embeddings = reader.Matrix("embeddings", -1, config.dim);
  weights.source_embeddings = reader.Has("source_embeddings")
                                  ? reader.Matrix("source_embeddings", -1, config.dim)
                                  : weights.target_embeddings;
  const int64_t tokens = weights.target_embeddings.outputs;
  weights.output.matrix = reader.Has("output") ? reader.Matrix("output", tokens, config.dim)
                                               : weights.target_embeddings;
  if (reader.Has("output.bias")) weights.output.bias = reader.Vector("output.bias", tokens);
  weights.positions = reader.Matrix("positions", -1, config.dim);
  for (int64_t i = 0; i < config.encoder_layers; ++i) {
    const std::string name = StrCat("encoder.", i);
    weights.encoder.push_back(
        {reader.Attention(name + ".self"), reader.FeedForward(name + ".ffn")});
  }
  for (int64_t i = 0; i < config.decoder_layers; ++i) {
    const std::string name = StrCat("decoder.", i);
    weights.decoder.push_back({reader.Attention(name + ".self"), reader.Attention(name + ".cross"),
                               reader.FeedForward(name + ".ffn")});
  }
  if (config.norm_first) {
    weights.encoder_norm = reader.Norm("encoder.norm");
    weights.decoder_norm = reader.Norm("decoder.norm");
  }
  if (reader.status().ok()) {
    if (tokens > kMaxTokens || weights.source_embeddings.outputs > kMaxTokens)
      reader.Fail("embeddings", StrCat("more than ", kMaxTokens, " tokens"));
    if (weights.longest() < kFewestPositions)
      reader.Fail("positions", StrCat("fewer than ", kFewestPositions, " places"));
  }
  if (!reader.status().ok()) return reader.status();
  return weights;
}

}  // namespace millrace::seq2seq
