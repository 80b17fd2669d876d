// Measures the tokens per second of an encoder-decoder of the shape of OPUS-MT-base: 6 + 6 layers,
// dim 512, ffn 2048, random weights; sources of 20 tokens, translations of exactly 30.
//
// usage: seq2seq_bench [--benchmark_filter=...]

#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "models/seq2seq/sentence_decoder.h"

namespace millrace::seq2seq {
namespace {

constexpr int64_t kDim = 512;
constexpr int64_t kHidden = 2048;
constexpr int64_t kLayers = 6;
constexpr int64_t kPlaces = 64;
constexpr size_t kSourceTokens = 20;
constexpr size_t kTargetTokens = 30;

Seq2SeqConfig BaseConfig() {
  Seq2SeqConfig config;
  config.dim = kDim;
  config.encoder_layers = kLayers;
  config.decoder_layers = kLayers;
  config.encoder_heads = 8;
  config.decoder_heads = 8;
  config.activation = Activation::kSwish;
  config.embedding_scale = 22.6F;
  return config;
}

// Weights that share one block of memory. That does not change the cost of reading them, because
// each is packed into memory of its own.
class RandomWeights {
 public:
  explicit RandomWeights(int64_t tokens) : block_(static_cast<size_t>(tokens * kDim)) {
    std::mt19937 random(1);
    std::normal_distribution<float> any(0, 0.02F);
    for (float& value : block_) value = any(random);
  }

  kernels::FloatMatrix Matrix(int64_t outputs, int64_t inputs) const {
    return {block_.data(), outputs, inputs};
  }
  kernels::FloatLinear Linear(int64_t outputs, int64_t inputs) const {
    return {Matrix(outputs, inputs), {block_.data(), static_cast<size_t>(outputs)}};
  }
  FloatNormWeights Norm() const { return {ones_, {block_.data(), ones_.size()}}; }
  FloatAttentionWeights Attention() const {
    return {Linear(kDim, kDim), Linear(kDim, kDim), Linear(kDim, kDim), Linear(kDim, kDim), Norm()};
  }
  FloatFeedForwardWeights FeedForward() const {
    return {Linear(kHidden, kDim), Linear(kDim, kHidden), Norm()};
  }

 private:
  std::vector<float> block_;
  std::vector<float> ones_ = std::vector<float>(kDim, 1.0F);
};

std::unique_ptr<const Seq2SeqNetwork> MakeNetwork(int64_t tokens, kernels::Precision precision) {
  const RandomWeights random(tokens);
  Seq2SeqWeights weights;
  weights.target_embeddings = random.Matrix(tokens, kDim);
  weights.source_embeddings = weights.target_embeddings;
  weights.output.matrix = weights.target_embeddings;
  weights.positions = random.Matrix(kPlaces, kDim);
  for (int64_t i = 0; i < kLayers; ++i) {
    weights.encoder.push_back({random.Attention(), random.FeedForward()});
    weights.decoder.push_back({random.Attention(), random.Attention(), random.FeedForward()});
  }
  return std::make_unique<Seq2SeqNetwork>(weights, BaseConfig(),
                                          kernels::LinearKernels::For(precision));
}

// Makes the network at the first call.
const Seq2SeqNetwork& NetworkOf(int64_t tokens, kernels::Precision precision) {
  static std::mutex mutex;
  static auto* const made =
      new std::map<std::pair<int64_t, kernels::Precision>, std::unique_ptr<const Seq2SeqNetwork>>;
  const std::lock_guard lock(mutex);
  auto& network = (*made)[{tokens, precision}];
  if (network == nullptr) network = MakeNetwork(tokens, precision);
  return *network;
}

// Arguments: precision (0: float32, 1: bfloat16, 2: int8), size of the vocabulary, sentences of a
// batch, hypotheses of each sentence.
void Decode(benchmark::State& state) {
  const Seq2SeqNetwork& network =
      NetworkOf(state.range(1), static_cast<kernels::Precision>(state.range(0)));
  translation::SearchOptions options;
  options.beam_size = static_cast<int>(state.range(3));
  translation::SearchTask task;
  task.tokens = state.range(1);
  task.suppressed = {0};  // no sentence ends early
  task.max_tokens = kTargetTokens;
  const std::vector<int32_t> source(kSourceTokens, 7);
  SentenceDecoder decoder(network);
  DecodingScratch scratch;
  for (auto _ : state) {
    std::vector<SentenceDecoder::Entry> entries;
    for (size_t i = 0; i < static_cast<size_t>(state.range(2)); ++i)
      entries.push_back({source, translation::MakeSearch(options, task)});
    const auto sentences = decoder.Begin(std::move(entries), scratch);
    std::vector<SentenceDecoding*> at_work;
    for (const auto& sentence : sentences) at_work.push_back(sentence.get());
    while (!at_work.empty()) {
      decoder.Step(at_work, scratch);
      std::erase_if(at_work, [](const SentenceDecoding* sentence) { return sentence->over(); });
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(2) *
                          static_cast<int64_t>(kTargetTokens));
}

BENCHMARK(Decode)
    ->ArgNames({"precision", "vocabulary", "sentences", "beam"})
    ->ArgsProduct({{0, 1, 2}, {8000, 32001}, {1, 8, 16, 32}, {1}})
    ->ArgsProduct({{0, 1, 2}, {32001}, {8}, {4}})
    ->ThreadRange(1, 2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace millrace::seq2seq

BENCHMARK_MAIN();
