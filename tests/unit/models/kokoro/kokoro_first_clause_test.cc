// The audio of the real weights when a sentence begins with a clause of its own.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "models/core/request.h"
#include "models/kokoro/kokoro_kind.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/models_folder.h"
#include "tests/unit/models/speech/speak.h"

namespace millrace::kokoro {
namespace {

constexpr char kText[] =
    "When the rain had stopped, we went out into the garden and found that the old apple tree by "
    "the wall had lost most of its leaves.";

std::unique_ptr<models::Model> Load() {
  const std::filesystem::path folder = testing::ModelsFolder() / "kokoro-82m/1";
  KokoroConfig config;
  config.file = "model.safetensors";
  config.config_file = "kokoro.json";
  config.lexicon_file = "english.lexicon";
  config.language = "en-US";
  auto model = kLoader.load(config, {.folder = folder}, {});
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : nullptr;
}

// The seconds of each step into `took`.
std::vector<models::SynthesizeOutput> Speak(const models::Model& model, bool streamed,
                                            std::vector<double>& took) {
  models::SynthesizeInput input;
  input.text = kText;
  input.streamed = streamed;
  models::FakeWorkerContext context;
  speech::Collector sink;
  models::Request request(input, TimePoint::max(), sink);
  std::vector<models::Request*> requests = {&request};
  while (!request.outcome()) {
    const auto begin = std::chrono::steady_clock::now();
    const std::unique_ptr<models::Batch> batch = model.Prepare(requests);
    if (batch == nullptr) continue;
    batch->Forward(context);
    batch->Complete();
    took.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  EXPECT_TRUE(request.outcome()->ok()) << *request.outcome();
  return std::move(sink.parts);
}

float Loudest(const std::vector<float>& samples, size_t begin, size_t end) {
  float loudest = 0;
  for (size_t i = begin; i < end; ++i) loudest = std::max(loudest, std::abs(samples[i]));
  return loudest;
}

TEST(KokoroFirstClauseTest, ComesSoonAndJoinsWithoutAClick) {
  const auto model = Load();
  ASSERT_NE(model, nullptr);
  std::vector<double> took;
  const std::vector<models::SynthesizeOutput> whole = Speak(*model, false, took);
  const std::vector<models::SynthesizeOutput> parts = Speak(*model, true, took);
  ASSERT_EQ(whole.size(), 1U);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].text, "When the rain had stopped,");
  // The cost of a step grows with its samples.
  EXPECT_LE(parts[0].samples.size(), whole[0].samples.size() * 35 / 100);
  for (const models::SynthesizeOutput& part : parts) {
    const size_t size = part.samples.size();
    const size_t edge = static_cast<size_t>(part.sample_rate) / 100;
    ASSERT_GT(size, 2 * edge);
    const float loudest = Loudest(part.samples, 0, size);
    EXPECT_GT(loudest, 0.1F);
    EXPECT_LE(Loudest(part.samples, 0, edge), 0.02F * loudest) << part.text;
    EXPECT_LE(Loudest(part.samples, size - edge, size), 0.02F * loudest) << part.text;
  }
  std::printf("whole %.2f s, first clause %.2f s, rest %.2f s\n", took[0], took[1], took[2]);
}

}  // namespace
}  // namespace millrace::kokoro
