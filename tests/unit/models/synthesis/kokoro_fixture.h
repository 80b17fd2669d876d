#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/core/request.h"
#include "models/synthesis/kokoro_model.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/models/synthesis/tiny_kokoro.h"
#include "tests/unit/models/text_english/tiny_lexicon.h"

namespace millrace::models {

inline constexpr size_t kSamplesPerFrame = 32;  // of the tiny model

// Keeps what a request gives.
class Collector final : public OutputSink {
 public:
  void Emit(Output output) override {
    parts.push_back(std::get<SynthesizeOutput>(std::move(output)));
  }

  std::vector<SynthesizeOutput> parts;
};

// Loads Kokoro on small random weights, with the real espeak-ng.
class KokoroFixture : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<Model>> TryLoad(const TinyKokoro& shape = {},
                                                 const std::string& voice = "",
                                                 const std::string& language = "en-US") {
    WriteTinyKokoro(folder_.path(), shape);
    return TryLoadAgain(voice, language);
  }
  absl::StatusOr<std::unique_ptr<Model>> TryLoadAgain(const std::string& voice = "",
                                                      const std::string& language = "en-US") {
    KokoroOptions options;
    options.weights_file = folder_.path() / "model.safetensors";
    options.config_file = folder_.path() / "kokoro.json";
    std::ofstream(folder_.path() / "lexicon", std::ios::binary)
        << testing::LexiconBytes({{"one", "gwˈʌn"}, {"two", "gtˈu"}}, language == "en-GB" ? 1 : 0);
    options.lexicon_file = folder_.path() / "lexicon";
    options.language = language;
    options.voice = voice;
    options.espeak_timeout = std::chrono::seconds(30);
    options.padded = padded_;
    options.few_shapes = few_shapes_;
    ModelInfo info;
    info.name = "tiny";
    return KokoroModel::Load(options, info);
  }
  std::unique_ptr<Model> Load(const TinyKokoro& shape = {}, const std::string& voice = "") {
    auto model = TryLoad(shape, voice);
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }

  const testing::TemporaryFolder folder_;
  bool padded_ = false;  // as on an accelerator
  bool few_shapes_ = false;
};

inline SynthesizeInput Say(const std::string& text) {
  SynthesizeInput input;
  input.text = text;
  return input;
}

// Runs a request to its end, as a worker does; returns its outcome.
inline absl::Status SpeakAll(const Model& model, const SynthesizeInput& input, Collector& sink) {
  FakeWorkerContext context;
  Request request(input, TimePoint::max(), sink);
  std::vector<Request*> requests = {&request};
  while (!request.outcome()) {
    const std::unique_ptr<Batch> batch = model.Prepare(requests);
    if (batch == nullptr) continue;
    batch->Forward(context);
    batch->Complete();
  }
  return *request.outcome();
}

inline std::vector<float> Samples(const Model& model, const SynthesizeInput& input) {
  Collector sink;
  const absl::Status status = SpeakAll(model, input, sink);
  EXPECT_TRUE(status.ok()) << status;
  std::vector<float> all;
  for (const SynthesizeOutput& part : sink.parts)
    all.insert(all.end(), part.samples.begin(), part.samples.end());
  return all;
}

}  // namespace millrace::models
