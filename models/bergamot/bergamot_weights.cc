#include "models/bergamot/bergamot_weights.h"

#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/kernels/integer_kernels.h"

namespace millrace::bergamot {
namespace {

using kernels::kColumns;

// The kernels need sums over dim that fit 32 bits, and heads as wide as a panel.
constexpr int64_t kMaxDim = kernels::kMaxExactSum;
constexpr int64_t kMaxHidden = 1 << 16;
constexpr int64_t kMaxTokens = 1 << 20;
constexpr int kMaxLayers = 64;

// Reads tensors of expected shapes. After the first failure everything that is read is empty.
// Copies are stored in `copies`.
class Reader {
 public:
  Reader(const models::SafetensorsFile& file,
         std::vector<kernels::AlignedBuffer<std::byte>>& copies)
      : file_(file), copies_(copies) {}

  const absl::Status& status() const { return status_; }
  bool Has(const std::string& name) const { return file_.tensors().contains(name); }
  void Fail(const std::string& name, const std::string& what) {
    if (status_.ok()) status_ = DataLoss("tensor '", name, "': ", what);
  }

  // Returns a copy. A negative size accepts any.
  template <typename T>
  std::span<const T> Vector(const std::string& name, int64_t size) {
    const models::SafetensorsFile::View view = Find(name, Type<T>(), {size});
    return {reinterpret_cast<const T*>(Copy(view)), view.bytes / sizeof(T)};
  }

  int32_t Value(const std::string& name) {
    const auto values = Vector<int32_t>(name, 1);
    return values.empty() ? 0 : values[0];
  }

  // Returns a view into the file, or a copy.
  Int8Matrix Matrix(const std::string& name, int64_t outputs, int64_t inputs, bool copy = false) {
    models::SafetensorsFile::View view = Find(name, models::DataType::kInt8, {outputs, inputs});
    if (copy) view.data = Copy(view);
    const auto multiplier = Vector<float>(name + ".multiplier", 1);
    if (!status_.ok()) return {};
    if (!std::isfinite(multiplier[0]) || multiplier[0] <= 0) Fail(name, "bad multiplier");
    return {reinterpret_cast<const int8_t*>(view.data), view.shape[0], view.shape[1],
            multiplier[0]};
  }

  LinearWeights Linear(const std::string& prefix, const std::string& kind, int64_t outputs,
                       int64_t inputs) {
    return {Matrix(prefix + "W" + kind, outputs, inputs),
            Vector<float>(prefix + "b" + kind, outputs)};
  }

  NormWeights Norm(const std::string& prefix, int64_t dim) {
    return {Vector<float>(prefix + "_ln_scale", dim), Vector<float>(prefix + "_ln_bias", dim)};
  }

  AttentionWeights Attention(const std::string& prefix, int64_t dim) {
    return {Linear(prefix, "q", dim, dim), Linear(prefix, "k", dim, dim),
            Linear(prefix, "v", dim, dim), Linear(prefix, "o", dim, dim), Norm(prefix + "Wo", dim)};
  }

  FeedForwardWeights FeedForward(const std::string& prefix, int64_t dim) {
    FeedForwardWeights weights;
    weights.expand = Linear(prefix, "1", -1, dim);
    const int64_t hidden = weights.expand.matrix.outputs;
    // The result overwrites the hidden units, so it must not be longer.
    if (status_.ok() && (hidden % kColumns != 0 || hidden < dim || hidden > kMaxHidden)) {
      Fail(prefix + "W1",
           StrCat(hidden, " hidden units are not supported; allowed are multiples of ", kColumns,
                  " from ", dim, " to ", kMaxHidden));
    }
    weights.contract = Linear(prefix, "2", dim, hidden);
    weights.norm = Norm(prefix + "ffn", dim);
    return weights;
  }

 private:
  template <typename T>
  static constexpr models::DataType Type() {
    return std::is_same_v<T, float> ? models::DataType::kFp32 : models::DataType::kInt32;
  }

  models::SafetensorsFile::View Find(const std::string& name, models::DataType type,
                                     const std::vector<int64_t>& shape) {
    if (!status_.ok()) return {};
    auto view = file_.Find(name);
    if (!view.ok()) {
      Fail(name, "missing");
      return {};
    }
    bool fits = view->type == type && view->shape.size() == shape.size();
    for (size_t i = 0; fits && i < shape.size(); ++i) {
      fits = shape[i] < 0 ? view->shape[i] > 0 : view->shape[i] == shape[i];
    }
    if (!fits) {
      Fail(name, StrCat("is ", std::string(models::ToString(view->type)), " [",
                        absl::StrJoin(view->shape, ", "), "], expected ",
                        std::string(models::ToString(type)), " [", absl::StrJoin(shape, ", "),
                        "] (-1: any)"));
      return {};
    }
    return *std::move(view);
  }

  const std::byte* Copy(const models::SafetensorsFile::View& view) {
    if (view.bytes == 0) return nullptr;
    copies_.emplace_back(view.bytes);
    std::memcpy(copies_.back().data(), view.data, view.bytes);
    return copies_.back().data();
  }

  const models::SafetensorsFile& file_;
  std::vector<kernels::AlignedBuffer<std::byte>>& copies_;
  absl::Status status_;
};

// Reads the embeddings of both sides: two matrices where each language has its own vocabulary.
void ReadEmbeddings(Reader& reader, BergamotWeights& weights) {
  const bool shared = reader.Has("Wemb");
  const std::string target = shared ? "Wemb" : "decoder_Wemb";
  weights.target_embeddings = reader.Matrix(target, -1, -1, /*copy=*/true);
  const int64_t dim = weights.dim();
  if (reader.status().ok() &&
      (dim % kColumns != 0 || dim > kMaxDim || weights.target_tokens() > kMaxTokens)) {
    reader.Fail(target, StrCat("unsupported size ", weights.target_tokens(), " x ", dim));
  }
  if (reader.Has("heads")) weights.heads = reader.Value("heads");
  if (reader.status().ok() &&
      (weights.heads < 1 || dim % weights.heads != 0 || dim / weights.heads < kernels::kPanel)) {
    reader.Fail("heads", StrCat(weights.heads, " do not divide ", dim, " into heads of ",
                                kernels::kPanel, " or more"));
  }
  weights.source_embeddings =
      shared ? weights.target_embeddings : reader.Matrix("encoder_Wemb", -1, dim, /*copy=*/true);
  if (reader.status().ok() && weights.source_tokens() > kMaxTokens) {
    reader.Fail("encoder_Wemb", StrCat("unsupported size ", weights.source_tokens(), " x ", dim));
  }
}

void ReadShortlist(Reader& reader, int64_t source_tokens, int64_t target_tokens,
                   ShortlistWeights& shortlist) {
  shortlist.first = reader.Value("shortlist.first");
  shortlist.offsets = reader.Vector<int32_t>("shortlist.offsets", source_tokens + 1);
  shortlist.ids = reader.Vector<int32_t>("shortlist.ids", -1);
  if (!reader.status().ok()) return;
  // The end of the sentence must be among these tokens, or a translation could not end.
  if (shortlist.first <= BergamotWeights::kEndOfSentence || shortlist.first > target_tokens) {
    reader.Fail("shortlist.first", StrCat(shortlist.first, " is out of range"));
  }
  int32_t last = 0;
  for (const int32_t offset : shortlist.offsets) {
    if (offset < last) return reader.Fail("shortlist.offsets", "not ascending");
    last = offset;
  }
  if (static_cast<size_t>(last) > shortlist.ids.size()) {
    reader.Fail("shortlist.offsets", "beyond the ids");
  }
  for (const int32_t id : shortlist.ids) {
    if (id < 0 || id >= target_tokens) return reader.Fail("shortlist.ids", "not a token");
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<BergamotWeights>> BergamotWeights::Load(
    const std::filesystem::path& path) {
  MILLRACE_ASSIGN_OR_RETURN(auto file, models::SafetensorsFile::Open(path));
  std::unique_ptr<BergamotWeights> weights(new BergamotWeights(std::move(file)));
  Reader reader(*weights->file_, weights->copies_);
  ReadEmbeddings(reader, *weights);
  const int64_t dim = weights->dim();
  weights->output_bias = reader.Vector<float>("decoder_ff_logit_out_b", weights->target_tokens());
  for (int layer = 1; layer <= kMaxLayers; ++layer) {
    const std::string prefix = StrCat("encoder_l", layer, "_");
    if (layer > 1 && !reader.Has(prefix + "self_Wq")) break;
    weights->encoder.push_back(
        {reader.Attention(prefix + "self_", dim), reader.FeedForward(prefix + "ffn_", dim)});
  }
  for (int layer = 1; layer <= kMaxLayers; ++layer) {
    const std::string prefix = StrCat("decoder_l", layer, "_");
    if (layer > 1 && !reader.Has(prefix + "rnn_Wf")) break;
    weights->decoder.push_back({reader.Linear(prefix + "rnn_", "f", dim, dim),
                                {reader.Matrix(prefix + "rnn_W", dim, dim), {}},
                                reader.Norm(prefix + "rnn_ffn", dim),
                                reader.Attention(prefix + "context_", dim),
                                reader.FeedForward(prefix + "ffn_", dim)});
  }
  ReadShortlist(reader, weights->source_tokens(), weights->target_tokens(), weights->shortlist);
  if (!reader.status().ok()) {
    return DataLoss(path.string(), ": ", reader.status().message());
  }
  return weights;
}

void BergamotWeights::DropLayers() {
  encoder.clear();
  decoder.clear();
  file_.reset();
}

}  // namespace millrace::bergamot
