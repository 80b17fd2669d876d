// Measures the sentences per second of the translation engines, over the sentences of about ten
// words of the test data.
//
// usage: MILLRACE_MODELS=<model repository> bergamot_bench [--benchmark_filter=...]

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "models/bergamot/bergamot_engine.h"
#include "models/bergamot/bergamot_weights.h"
#include "models/translation/vocabulary.h"
#include "mps_runtime/graph_cache.h"
#include "mps_runtime/worker_context.h"

namespace millrace::bergamot {
namespace {

// Engines on a CPU use no worker context.
class BenchContext final : public runtime::WorkerContext {
 public:
  runtime::Stream stream() const override { return {}; }
  runtime::GraphCache& graph_cache() override { return cache_; }
  void Synchronize() override {}

 private:
  runtime::GraphCache cache_{runtime::GraphCache::Limits{}};
};

std::filesystem::path ModelFolder() {
  const char* root = std::getenv("MILLRACE_MODELS");
  const std::filesystem::path models =
      root != nullptr ? root : std::filesystem::path(MILLRACE_SOURCE_DIR) / "var" / "models";
  return models / "bergamot-en-pt" / "1";
}

size_t CountWords(const std::string& line) {
  std::istringstream words(line);
  size_t count = 0;
  for (std::string word; words >> word;) ++count;
  return count;
}

// The model and sentences of all benchmarks, loaded once.
struct Fixture {
  std::unique_ptr<const BergamotWeights> weights;
  std::unique_ptr<const translation::Vocabulary> vocabulary;
  std::vector<std::vector<int32_t>> sentences;

  static const Fixture& Get() {
    static const Fixture* const fixture = new Fixture;
    return *fixture;
  }

 private:
  Fixture() {
    constexpr size_t kFewestWords = 9;
    constexpr size_t kMostWords = 11;
    auto loaded = BergamotWeights::Load(ModelFolder() / "weights.safetensors");
    if (!loaded.ok()) Fail(std::string(loaded.status().message()));
    weights = *std::move(loaded);
    auto pieces =
        translation::Vocabulary::Load(ModelFolder() / "vocab.spm", weights->source_tokens());
    if (!pieces.ok()) Fail(std::string(pieces.status().message()));
    vocabulary = *std::move(pieces);
    const auto path =
        std::filesystem::path(MILLRACE_SOURCE_DIR) / "tests" / "data" / "translation" / "en.txt";
    std::ifstream lines(path);
    for (std::string line; std::getline(lines, line);) {
      const size_t words = CountWords(line);
      if (words < kFewestWords || words > kMostWords) continue;
      sentences.push_back(vocabulary->Encode(line, 255).tokens);
    }
    if (sentences.empty()) Fail(path.string() + ": no sentences");
  }

  [[noreturn]] static void Fail(const std::string& what) {
    std::cerr << what << "\n";
    std::exit(EXIT_FAILURE);
  }
};

template <EngineKind kind>
const translation::TranslationEngine& Engine() {
  static const auto* const engine = MakeEngine(kind, *Fixture::Get().weights).release();
  return *engine;
}

template <EngineKind kind>
void Translate(benchmark::State& state) {
  const translation::TranslationEngine& engine = Engine<kind>();
  const std::vector<std::vector<int32_t>>& all = Fixture::Get().sentences;
  const auto batch_size = static_cast<size_t>(state.range(0));
  BenchContext context;
  size_t next = static_cast<size_t>(state.thread_index()) * 7;
  std::vector<translation::SentenceJob> jobs;
  for (auto _ : state) {
    jobs.clear();
    for (size_t i = 0; i < batch_size; ++i)
      jobs.push_back(MakeSentenceJob(all[next++ % all.size()], 2.5F));
    engine.Translate(
        jobs, [](size_t) { return false; }, context);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK_TEMPLATE(Translate, EngineKind::kInt8)
    ->Name("Translate/int8")
    ->Arg(1)
    ->Arg(8)
    ->Arg(32)
    ->ThreadRange(1, 2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(Translate, EngineKind::kAten)
    ->Name("Translate/aten_float32")
    ->Arg(1)
    ->Arg(32)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace millrace::bergamot

BENCHMARK_MAIN();
