// Measures the words per second of the English front end on one thread, over the sentences of the
// tests, without unknown words, which espeak-ng pronounces.
//
// usage: MILLRACE_LEXICON=<file of models.convert english-lexicon> english_bench

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "models/text/english/english_g2p.h"

namespace millrace::models {
namespace {

std::vector<std::string> Sentences() {
  std::ifstream file(MILLRACE_SOURCE_DIR "/tests/data/translation/en.txt");
  std::vector<std::string> sentences;
  for (std::string line; std::getline(file, line);) sentences.push_back(line);
  return sentences;
}

const EnglishG2p* G2p() {
  static const std::unique_ptr<const EnglishG2p> g2p = []() -> std::unique_ptr<const EnglishG2p> {
    const char* path = std::getenv("MILLRACE_LEXICON");
    auto lexicon = EnglishLexicon::Open(path == nullptr ? "" : path);
    if (!lexicon.ok()) {
      std::cerr << "MILLRACE_LEXICON: " << lexicon.status() << "\n";
      return nullptr;
    }
    return std::make_unique<const EnglishG2p>(*std::move(lexicon), EnglishG2p::Options());
  }();
  return g2p.get();
}

void BM_Normalize(benchmark::State& state) {
  const TextNormalizer normalizer(EnglishDialect::kUs);
  const std::vector<std::string> sentences = Sentences();
  int64_t words = 0;
  for (auto _ : state) {
    for (const std::string& sentence : sentences) {
      words += static_cast<int64_t>(normalizer.Normalize(sentence).size());
    }
  }
  state.SetItemsProcessed(words);
}
BENCHMARK(BM_Normalize)->Unit(benchmark::kMillisecond);

void BM_Phonemize(benchmark::State& state) {
  if (G2p() == nullptr) return state.SkipWithError("no lexicon");
  const std::vector<std::string> sentences = Sentences();
  int64_t words = 0;
  for (auto _ : state) {
    for (const std::string& sentence : sentences) {
      words += static_cast<int64_t>(G2p()->Phonemize(sentence)->size());
    }
  }
  state.SetItemsProcessed(words);
}
BENCHMARK(BM_Phonemize)->Unit(benchmark::kMillisecond);

void BM_OpenLexicon(benchmark::State& state) {
  const char* path = std::getenv("MILLRACE_LEXICON");
  for (auto _ : state) {
    auto lexicon = EnglishLexicon::Open(path == nullptr ? "" : path);
    if (!lexicon.ok()) return state.SkipWithError("no lexicon");
    benchmark::DoNotOptimize(lexicon);
  }
}
BENCHMARK(BM_OpenLexicon)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace millrace::models

BENCHMARK_MAIN();
