// Translates lines of standard input with one engine and prints one translation a line; each line
// is one sentence to the engine, nothing is split.
//
// usage: bergamot_translate MODEL_FOLDER [int8|aten] [batch size] < sentences

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "models/bergamot/bergamot_engine.h"
#include "models/bergamot/bergamot_weights.h"
#include "models/translation/vocabulary.h"
#include "tests/fakes/fake_worker_context.h"

namespace millrace::bergamot {
namespace {

int Run(const std::filesystem::path& folder, EngineKind kind, size_t batch_size) {
  const auto weights = BergamotWeights::Load(folder / "weights.safetensors");
  if (!weights.ok()) {
    std::cerr << weights.status() << "\n";
    return EXIT_FAILURE;
  }
  const auto loaded = translation::Vocabulary::Load(folder / "vocab.spm", (*weights)->tokens());
  if (!loaded.ok()) {
    std::cerr << loaded.status().message() << "\n";
    return EXIT_FAILURE;
  }
  const translation::Vocabulary* const vocabulary = loaded->get();
  const auto engine = MakeEngine(kind, **weights);
  models::FakeWorkerContext context;
  std::vector<translation::SentenceJob> jobs;
  const auto flush = [&] {
    engine->Translate(
        jobs, [](size_t) { return false; }, context);
    for (const translation::SentenceJob& job : jobs)
      std::cout << vocabulary->Decode(job.target) << "\n";
    jobs.clear();
  };
  for (std::string line; std::getline(std::cin, line);) {
    jobs.push_back(MakeSentenceJob(vocabulary->Encode(line, 1023).tokens, 2.5F));
    if (jobs.size() == batch_size) flush();
  }
  flush();
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace millrace::bergamot

int main(int argc, char** argv) {
  using millrace::bergamot::EngineKind;
  const std::string_view engine = argc > 2 ? argv[2] : "int8";
  const int batch_size = argc > 3 ? std::atoi(argv[3]) : 32;
  if (argc < 2 || argc > 4 || (engine != "int8" && engine != "aten") || batch_size < 1) {
    std::cerr << "usage: bergamot_translate MODEL_FOLDER [int8|aten] [batch size]\n";
    return 2;
  }
  return millrace::bergamot::Run(argv[1], engine == "aten" ? EngineKind::kAten : EngineKind::kInt8,
                                 static_cast<size_t>(batch_size));
}
