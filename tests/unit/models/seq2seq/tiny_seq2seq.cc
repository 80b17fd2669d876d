#include "tests/unit/models/seq2seq/tiny_seq2seq.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/fakes/temporary_folder.h"

namespace millrace::seq2seq {
namespace {

constexpr int64_t kDim = 64;
constexpr int64_t kEncoderHidden = 96;
constexpr int64_t kDecoderHidden = 128;
constexpr int64_t kPlaces = 64;
constexpr float kEndScale = 2;
constexpr int64_t kSourceTokens = 61;  // kMarianTwo's

int32_t TokensOf(TinyKind kind) {
  switch (kind) {
    case TinyKind::kMarian:
      return 61;
    case TinyKind::kMarianTwo:
      return 50;
    case TinyKind::kM2m100:
      break;
  }
  return 74;
}

// Numbers in -1 .. 1: the top 24 bits of splitmix64 from the FNV-1a hash of the name on.
std::vector<float> Formula(const std::string& name, int64_t count) {
  uint64_t seed = 0xCBF29CE484222325;
  for (const char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  std::vector<float> values;
  for (uint64_t i = 1; i <= static_cast<uint64_t>(count); ++i) {
    uint64_t x = seed + i * 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    x ^= x >> 31;
    values.push_back(static_cast<float>(x >> 40) / 8388608.0F - 1.0F);
  }
  return values;
}

class Maker {
 public:
  explicit Maker(TinyKind kind)
      : kind_(kind), marian_(kind != TinyKind::kM2m100), config_(TinyConfig(kind)) {}

  bergamot::TinyTensors Make() {
    const int64_t tokens = TinyTask(kind_).tokens;
    std::vector<float> embeddings = Scaled("embeddings", tokens * kDim, marian_ ? 0.45F : 0.2F);
    for (int64_t i = 0; i < kDim; ++i) {
      embeddings[static_cast<size_t>(config_.end * kDim + i)] *= kEndScale;
    }
    Add("embeddings", {tokens, kDim}, embeddings);
    if (kind_ == TinyKind::kMarianTwo) {
      Add("source_embeddings", {kSourceTokens, kDim},
          Scaled("source_embeddings", kSourceTokens * kDim, 0.45F));
    }
    if (marian_) Add("output.bias", {tokens}, Scaled("output.bias", tokens, kBiasScale));
    Add("positions", {kPlaces, kDim}, Positions());
    for (const char* layer : {"encoder.0", "encoder.1"}) {
      Attention(std::string(layer) + ".self");
      FeedForward(std::string(layer) + ".ffn", kEncoderHidden);
    }
    for (const char* layer : {"decoder.0", "decoder.1"}) {
      Attention(std::string(layer) + ".self");
      Attention(std::string(layer) + ".cross");
      FeedForward(std::string(layer) + ".ffn", kDecoderHidden);
    }
    if (!marian_) {
      Norm("encoder");
      Norm("decoder");
    }
    return std::move(tensors_);
  }

 private:
  static constexpr float kBiasScale = 0.02F;

  static std::vector<float> Scaled(const std::string& name, int64_t count, float scale) {
    std::vector<float> values = Formula(name, count);
    for (float& value : values) value *= scale;
    return values;
  }
  void Add(const std::string& name, std::vector<int64_t> shape, const std::vector<float>& values) {
    tensors_[name] = bergamot::FloatTensor(values);
    tensors_[name].shape = std::move(shape);
  }
  void Linear(const std::string& name, int64_t outputs, int64_t inputs, float scale) {
    Add(name + ".weight", {outputs, inputs}, Scaled(name + ".weight", outputs * inputs, scale));
    Add(name + ".bias", {outputs}, Scaled(name + ".bias", outputs, kBiasScale));
  }
  void Norm(const std::string& name) {
    std::vector<float> scale = Scaled(name + ".norm.weight", kDim, 0.2F);
    for (float& value : scale) value += 1;
    Add(name + ".norm.weight", {kDim}, scale);
    Add(name + ".norm.bias", {kDim}, Scaled(name + ".norm.bias", kDim, kBiasScale));
  }
  void Attention(const std::string& name) {
    const float matrices = marian_ ? 0.3F : 0.8F;
    const float attention = marian_ ? 1.5F : 2.5F;
    for (const char* part : {".query", ".key"}) Linear(name + part, kDim, kDim, attention);
    for (const char* part : {".value", ".output"}) Linear(name + part, kDim, kDim, matrices);
    Norm(name);
  }
  void FeedForward(const std::string& name, int64_t hidden) {
    Linear(name + ".expand", hidden, kDim, marian_ ? 0.3F : 0.8F);
    Linear(name + ".contract", kDim, hidden, marian_ ? 0.3F : 0.8F);
    Norm(name);
  }
  // Sines in the first half, cosines in the second. M2M-100 begins at 2, and its rates end at
  // exactly 1 / 10000.
  std::vector<float> Positions() const {
    constexpr int64_t kHalf = kDim / 2;
    std::vector<float> table(kPlaces * kDim);
    for (int64_t place = 0; place < kPlaces; ++place) {
      for (int64_t i = 0; i < kHalf; ++i) {
        const double exponent =
            static_cast<double>(i) / static_cast<double>(marian_ ? kHalf : kHalf - 1);
        const double angle =
            static_cast<double>(place + (marian_ ? 0 : 2)) / std::pow(10000, exponent);
        table[static_cast<size_t>(place * kDim + i)] = static_cast<float>(std::sin(angle));
        table[static_cast<size_t>(place * kDim + kHalf + i)] = static_cast<float>(std::cos(angle));
      }
    }
    return table;
  }

  const TinyKind kind_;
  const bool marian_;
  const Seq2SeqConfig config_;
  bergamot::TinyTensors tensors_;
};

}  // namespace

std::string NameOf(TinyKind kind) {
  switch (kind) {
    case TinyKind::kMarian:
      return "marian";
    case TinyKind::kMarianTwo:
      return "marian_two";
    case TinyKind::kM2m100:
      break;
  }
  return "m2m100";
}

Seq2SeqConfig TinyConfig(TinyKind kind) {
  const bool marian = kind != TinyKind::kM2m100;
  Seq2SeqConfig config;
  config.dim = kDim;
  config.encoder_layers = 2;
  config.decoder_layers = 2;
  config.encoder_heads = 4;
  config.decoder_heads = 2;
  config.norm_first = !marian;
  config.activation = marian ? Activation::kSwish : Activation::kRelu;
  config.embedding_scale = 8;
  config.start = marian ? TokensOf(kind) - 1 : 2;  // Marian's is the padding
  config.end = marian ? 0 : 2;
  config.unknown = marian ? 1 : 3;
  config.forced_end = marian;
  config.suppressed = {marian ? config.start : 1};
  if (!marian) {
    config.language_tokens = LanguageTokens::kSourceAndTarget;
    config.languages = {{"en", "en", 60}, {"pt", "pt", 61}};
  }
  return config;
}

bergamot::TinyTensors MakeTinySeq2Seq(TinyKind kind) { return Maker(kind).Make(); }

std::unique_ptr<const Seq2SeqNetwork> MakeTinyNetwork(TinyKind kind,
                                                      const kernels::LinearKernels& kernels) {
  return MakeTinyNetwork(kind, MakeTinySeq2Seq(kind), kernels);
}

std::unique_ptr<const Seq2SeqNetwork> MakeTinyNetwork(TinyKind kind,
                                                      const bergamot::TinyTensors& tensors,
                                                      const kernels::LinearKernels& kernels) {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "weights.safetensors";
  bergamot::WriteSafetensors(file, tensors);
  const auto weights = Seq2SeqWeights::Load(file, TinyConfig(kind));
  EXPECT_TRUE(weights.ok()) << weights.status();
  if (!weights.ok()) return nullptr;
  return std::make_unique<Seq2SeqNetwork>(*weights, TinyConfig(kind), kernels);
}

translation::SearchTask TinyTask(TinyKind kind) {
  const Seq2SeqConfig config = TinyConfig(kind);
  translation::SearchTask task;
  task.tokens = TokensOf(kind);
  task.start = config.start;
  task.end = config.end;
  task.forced_end = config.forced_end;
  task.suppressed = config.suppressed;
  task.max_tokens = 19;
  return task;
}

}  // namespace millrace::seq2seq
