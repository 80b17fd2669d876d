// Measures how fast an encoder-decoder decodes on a device, greedily, with random weights of a
// published shape. Prints one JSON object a line:
//   {"shape": "nllb-600m", "mode": "graph", "rows": 1, "tokens": 4, "us_per_token": 900.1}
// for steps of "rows" rows with paths of 30 tokens and sources of 20 (median of repeats), "eager"
// or replayed as a graph, "tokens" of each row in one submission; and
//   {"shape": "nllb-600m", "mode": "translate", "workers": 1, "concurrent": 128,
//   "tokens_per_s": 1.5}
// for whole sentences, 20 tokens into exactly 30, encoded and decoded `concurrent` at a time by
// each of the workers for about SECONDS, tokens of all workers. First it checks that a small
// network decodes on the device what it decodes in float32 on the CPU, for many rows and for few:
//   {"shape": "small", "type": "Half", "sentences": 64, "equal": 63}
//
// Usage: millrace_seq2seq_scaling DEVICE SECONDS SHAPE...   (shapes: nllb-600m, opus-base)
#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "models/seq2seq/aten/cached_transformer.h"
#include "mps_runtime/runtime.h"
#include "mps_runtime/tensor_device.h"

namespace millrace::seq2seq {
namespace {

using runtime::ForwardScope;
using runtime::Runtime;
using runtime::WorkerContext;
using Tokens = std::vector<int32_t>;
using Seconds = std::chrono::duration<double>;

constexpr size_t kSourceTokens = 20;
constexpr size_t kTargetTokens = 30;
constexpr size_t kSlots = 40000;
constexpr int64_t kPlaces = 256;

struct NetworkShape {
  std::string name;
  int64_t layers, dim, hidden, heads, tokens;
  bool norm_first, swish;
};

const NetworkShape kSmall = {"small", 2, 256, 512, 4, 1024, true, false};
const NetworkShape kShapes[] = {{"nllb-600m", 12, 1024, 4096, 16, 256206, true, false},
                                {"opus-base", 6, 512, 2048, 8, 58101, false, true}};

class RandomWeights {
 public:
  RandomWeights(const NetworkShape& shape, at::TensorOptions options, double deviation)
      : shape_(shape), options_(options), deviation_(deviation) {}

  TransformerWeights Make() const {
    const int64_t dim = shape_.dim;
    const int64_t padded = (shape_.tokens + 63) / 64 * 64;
    TransformerWeights weights;
    weights.encoder_heads = shape_.heads;
    weights.decoder_heads = shape_.heads;
    weights.norm_first = shape_.norm_first;
    weights.swish = shape_.swish;
    weights.embedding_scale = 1;
    weights.positions = Random({kPlaces, dim});
    weights.output = {Random({padded, dim}), at::zeros({padded}, options_.dtype(at::kFloat))};
    weights.suppressed = at::zeros({0}, options_.dtype(at::kLong));
    weights.source_embeddings = weights.output.weight;
    weights.target_embeddings = weights.output.weight;
    for (int64_t i = 0; i < shape_.layers; ++i) {
      weights.encoder.push_back({Linear(3 * dim, dim), Linear(dim, dim), Norm(), FeedForward()});
      weights.decoder.push_back({Linear(3 * dim, dim), Linear(dim, dim), Norm(), Linear(dim, dim),
                                 Linear(dim, dim), Norm(), FeedForward()});
    }
    weights.memory = Linear(2 * dim * shape_.layers, dim);
    weights.encoder_norm = Norm();
    weights.decoder_norm = Norm();
    return weights;
  }

 private:
  at::Tensor Random(at::IntArrayRef sizes) const {
    return at::empty(sizes, options_).normal_(0, deviation_);
  }
  AtenLinear Linear(int64_t outputs, int64_t inputs) const {
    return {Random({outputs, inputs}), Random({outputs})};
  }
  AtenNorm Norm() const {
    return {at::ones({shape_.dim}, options_), at::zeros({shape_.dim}, options_)};
  }
  AtenFeedForward FeedForward() const {
    return {Linear(shape_.hidden, shape_.dim), Linear(shape_.dim, shape_.hidden), Norm()};
  }

  const NetworkShape& shape_;
  const at::TensorOptions options_;
  const double deviation_;
};

at::Tensor Moved(const at::Tensor& tensor, const at::TensorOptions& to) {
  return tensor.scalar_type() == at::kFloat ? tensor.to(to) : tensor;
}

// Converts all but the output's bias, which stays float32.
TransformerWeights Moved(const TransformerWeights& from, const at::TensorOptions& to) {
  TransformerWeights weights = from;
  const auto linear = [&](AtenLinear& layer) {
    layer = {Moved(layer.weight, to), Moved(layer.bias, to)};
  };
  const auto norm = [&](AtenNorm& layer) {
    layer = {Moved(layer.scale, to), Moved(layer.bias, to)};
  };
  const auto feed_forward = [&](AtenFeedForward& layer) {
    linear(layer.expand);
    linear(layer.contract);
    norm(layer.norm);
  };
  weights.positions = Moved(weights.positions, to);
  weights.output = {Moved(weights.output.weight, to), weights.output.bias.to(to.dtype(at::kFloat))};
  weights.suppressed = weights.suppressed.to(to.device());
  weights.source_embeddings = weights.output.weight;
  weights.target_embeddings = weights.output.weight;
  for (AtenEncoderLayer& layer : weights.encoder) {
    linear(layer.inputs);
    linear(layer.output);
    norm(layer.norm);
    feed_forward(layer.feed_forward);
  }
  for (AtenDecoderLayer& layer : weights.decoder) {
    for (AtenLinear* part : {&layer.inputs, &layer.output, &layer.cross_query, &layer.cross_output})
      linear(*part);
    norm(layer.norm);
    norm(layer.cross_norm);
    feed_forward(layer.feed_forward);
  }
  linear(weights.memory);
  norm(weights.encoder_norm);
  norm(weights.decoder_norm);
  return weights;
}

// Sentences that are translated together.
class Group {
 public:
  Group(const CachedTransformer& network, size_t sentences, int32_t first_token)
      : network_(network) {
    for (size_t i = 0; i < sentences; ++i) {
      Sentence& sentence = sentences_.emplace_back();
      sentence.source_slots = network.slots()->Take(kSourceTokens, this);
      sentence.slots = network.slots()->Take(kTargetTokens, this);
      if (sentence.slots.empty()) throw std::runtime_error("too few slots");
      for (size_t token = 0; token < kSourceTokens; ++token) {
        sentence.source.push_back(
            static_cast<int32_t>((static_cast<size_t>(first_token) + i * 37 + token * 11) % 1000));
      }
    }
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() {
    for (const Sentence& sentence : sentences_) {
      network_.slots()->Give(sentence.source_slots);
      network_.slots()->Give(sentence.slots);
    }
  }

  void Encode(WorkerContext& context) {
    std::vector<CachedTransformer::Source> sources;
    for (Sentence& sentence : sentences_) {
      sentence.history = {2};
      sources.push_back({sentence.source, sentence.source_slots});
    }
    network_.Encode(sources, context);
  }
  void Continue(size_t tokens, WorkerContext& context) {
    const auto next = network_.Continue(Rows(), tokens, context);
    for (size_t i = 0; i < sentences_.size(); ++i)
      sentences_[i].history.insert(sentences_[i].history.end(), next[i].begin(), next[i].end());
  }
  void Translate(WorkerContext& context) {
    Encode(context);
    while (written() < kTargetTokens) {
      const size_t left = kTargetTokens - written();
      Continue(left >= CachedTransformer::kMaxTokens ? CachedTransformer::kMaxTokens : 1, context);
    }
  }
  // Decodes the last tokens again.
  void Repeat(size_t tokens, WorkerContext& context) const {
    std::vector<CachedTransformer::Row> rows = Rows();
    for (CachedTransformer::Row& row : rows) row.position = kTargetTokens - tokens;
    network_.Continue(rows, tokens, context);
  }

  std::vector<Tokens> histories() const {
    std::vector<Tokens> all;
    for (const Sentence& sentence : sentences_) all.push_back(sentence.history);
    return all;
  }

 private:
  struct Sentence {
    Tokens source, source_slots, slots, history;
  };

  size_t written() const { return sentences_.front().history.size() - 1; }
  std::vector<CachedTransformer::Row> Rows() const {
    std::vector<CachedTransformer::Row> rows;
    for (const Sentence& sentence : sentences_) {
      rows.push_back({.token = sentence.history.back(),
                      .position = sentence.history.size() - 1,
                      .path = sentence.slots,
                      .source = sentence.source_slots,
                      .forced = {}});
    }
    return rows;
  }

  const CachedTransformer& network_;
  std::vector<Sentence> sentences_;
};

std::unique_ptr<Runtime> Begin(runtime::DeviceType device, int workers, bool graphs) {
  runtime::RuntimeOptions options;
  options.device = device;
  options.workers = workers;
  options.max_in_flight = workers;
  options.accept_unsafe_concurrency = true;
  options.graph_cache.max_bytes = size_t{16} << 30;
  if (!graphs) options.graph_cache_policy = runtime::GraphCachePolicy::kFrozen;
  auto runtime = Runtime::Bootstrap(options);
  if (!graphs) runtime->FinishWarmUp();
  return runtime;
}

// Calls f(context) on a worker's thread.
template <typename F>
void OnWorker(Runtime& runtime, const F& f) {
  std::thread([&] {
    const auto context = runtime.EnterWorker();
    const ForwardScope scope(runtime, *context);
    f(*context);
  }).join();
}

template <typename F>
void OnMainThread(Runtime& runtime, const F& f) {
  const auto context = runtime.EnterMainThread();
  const ForwardScope scope(runtime, *context);
  f(*context);
}

// Translates the small network's sentences with the weights moved to the device.
std::vector<Tokens> Translations(runtime::DeviceType device, const at::TensorOptions& to,
                                 size_t sentences) {
  const auto runtime = Begin(device, 1, true);
  std::vector<Tokens> histories;
  std::optional<CachedTransformer> network;
  OnMainThread(*runtime, [&](WorkerContext&) {
    // Only the CPU's generator is seeded: the device's library is not loaded yet.
    at::Generator generator = at::globalContext().defaultGenerator(at::kCPU);
    generator.set_current_seed(1);
    const RandomWeights weights(kSmall, at::TensorOptions(at::kFloat), 0.1);
    network.emplace(Moved(weights.Make(), to), kSlots, kSmall.name, false);
  });
  OnWorker(*runtime, [&](WorkerContext& context) {
    // The third call replays the graph that the second captured.
    for (int repeat = 0; repeat < 3; ++repeat) {
      Group group(*network, sentences, 1);
      group.Translate(context);
      histories = group.histories();
    }
  });
  return histories;
}

void Compare(runtime::DeviceType device, const at::TensorOptions& to) {
  for (const size_t sentences : {64, 8}) {
    const auto expected = Translations(runtime::DeviceType::kCpu,
                                       at::TensorOptions(at::kFloat).device(at::kCPU), sentences);
    const auto got = Translations(device, to, sentences);
    size_t equal = 0;
    for (size_t i = 0; i < got.size(); ++i) equal += got[i] == expected[i] ? 1 : 0;
    std::printf("{\"shape\": \"small\", \"type\": \"%s\", \"sentences\": %zu, \"equal\": %zu}\n",
                c10::toString(c10::typeMetaToScalarType(to.dtype())), got.size(), equal);
  }
}

void TimeSteps(Runtime& runtime, const CachedTransformer& network, const NetworkShape& shape,
               const char* mode, Seconds seconds) {
  OnWorker(runtime, [&](WorkerContext& context) {
    for (const size_t rows : {1, 8, 32, 128}) {
      Group group(network, rows, 1);
      group.Translate(context);
      for (const size_t tokens : {size_t{1}, CachedTransformer::kMaxTokens}) {
        for (int i = 0; i < 5; ++i) group.Repeat(tokens, context);
        std::vector<double> took;
        const auto end = std::chrono::steady_clock::now() + seconds;
        while (took.size() < 3 || std::chrono::steady_clock::now() < end) {
          const auto begin = std::chrono::steady_clock::now();
          group.Repeat(tokens, context);
          took.push_back(Seconds(std::chrono::steady_clock::now() - begin).count());
        }
        std::ranges::sort(took);
        std::printf(
            "{\"shape\": \"%s\", \"mode\": \"%s\", \"rows\": %zu, \"tokens\": %zu, "
            "\"us_per_token\": %.1f, \"repeats\": %zu}\n",
            shape.name.c_str(), mode, rows, tokens,
            took[took.size() / 2] * 1e6 / static_cast<double>(tokens), took.size());
        std::fflush(stdout);
      }
    }
  });
}

void TimeTranslations(Runtime& runtime, const CachedTransformer& network, const NetworkShape& shape,
                      int workers, size_t concurrent, Seconds seconds) {
  std::atomic<bool> stop = false;
  std::atomic<int64_t> sentences = 0;
  std::barrier start(workers + 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i) {
    threads.emplace_back([&, i] {
      const auto context = runtime.EnterWorker();
      const auto translate = [&] {
        const ForwardScope scope(runtime, *context);
        Group group(network, concurrent, i * 100);
        group.Translate(*context);
      };
      for (int warm_up = 0; warm_up < 3; ++warm_up) translate();
      start.arrive_and_wait();
      for (; !stop.load(std::memory_order_relaxed); sentences += static_cast<int64_t>(concurrent))
        translate();
    });
  }
  start.arrive_and_wait();
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(seconds);  // the measured time: the workers run meanwhile
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const Seconds took = std::chrono::steady_clock::now() - begin;
  std::printf(
      "{\"shape\": \"%s\", \"mode\": \"translate\", \"workers\": %d, \"concurrent\": %zu, "
      "\"tokens_per_s\": %.0f}\n",
      shape.name.c_str(), workers, concurrent * static_cast<size_t>(workers),
      static_cast<double>(sentences) * static_cast<double>(kTargetTokens) / took.count());
  std::fflush(stdout);
}

// options: type and device of the weights.
void Measure(runtime::DeviceType device, const at::TensorOptions& options,
             const NetworkShape& shape, Seconds seconds) {
  for (const bool graphs : {false, true}) {
    const auto runtime = Begin(device, 4, graphs);
    std::optional<CachedTransformer> network;
    OnMainThread(*runtime, [&](WorkerContext& context) {
      network.emplace(RandomWeights(shape, options, 0.02).Make(), kSlots, shape.name, false);
      context.Synchronize();
    });
    TimeSteps(*runtime, *network, shape, graphs ? "graph" : "eager", seconds / 10);
    if (!graphs) continue;
    for (const size_t concurrent : {1, 8, 32, 128})
      TimeTranslations(*runtime, *network, shape, 1, concurrent, seconds);
    for (const int workers : {2, 4})
      TimeTranslations(*runtime, *network, shape, workers, 128 / static_cast<size_t>(workers),
                       seconds);
    TimeTranslations(*runtime, *network, shape, 2, 128, seconds);
  }
}

int Main(int argc, char** argv) {
  const auto device = argc >= 4 ? runtime::ParseDeviceType(argv[1]) : std::nullopt;
  const double seconds = argc >= 4 ? std::atof(argv[2]) : 0;
  std::vector<const NetworkShape*> shapes;
  for (int i = 3; i < argc; ++i) {
    const auto* const shape = std::ranges::find(kShapes, argv[i], &NetworkShape::name);
    if (shape != std::end(kShapes)) shapes.push_back(shape);
  }
  if (!device || seconds <= 0 || shapes.empty() || std::ssize(shapes) != argc - 3) {
    std::fprintf(stderr,
                 "usage: millrace_seq2seq_scaling cpu|cuda|mps SECONDS nllb-600m|opus-base...\n");
    return 2;
  }
  const at::TensorOptions there =
      at::TensorOptions(at::kFloat).device(runtime::TensorDevice(*device));
  Compare(*device, there);
  const bool half = runtime::TraitsOf(*device).half_precision;
  if (half) Compare(*device, there.dtype(at::kHalf));
  for (const NetworkShape* shape : shapes)
    Measure(*device, half ? there.dtype(at::kHalf) : there, *shape, Seconds(seconds));
  return 0;
}

}  // namespace
}  // namespace millrace::seq2seq

int main(int argc, char** argv) {
  try {
    return millrace::seq2seq::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "millrace_seq2seq_scaling: %s\n", error.what());
    return 1;
  }
}
