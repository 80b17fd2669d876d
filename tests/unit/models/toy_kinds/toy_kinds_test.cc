#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/repository/model_factory.h"
#include "models/repository/model_repository.h"
#include "models/speech/speech_cache.h"
#include "tests/fakes/run_model.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/models/toy_kinds/toy.pb.h"

// As models/kinds.cc and models/loaders.cc do it with models/kinds.inc.
#define MILLRACE_MODEL_KIND(kind)           \
  namespace millrace::kind {                \
  extern const models::ModelKind kKind;     \
  extern const models::ModelLoader kLoader; \
  }
#include "tests/unit/models/toy_kinds/toy_kinds.inc"
#undef MILLRACE_MODEL_KIND

namespace millrace::models {
namespace {

using ::testing::HasSubstr;

#define MILLRACE_MODEL_KIND(kind) &kind::kKind,
const ModelKind* const kToyKinds[] = {
#include "tests/unit/models/toy_kinds/toy_kinds.inc"
};
#undef MILLRACE_MODEL_KIND
#define MILLRACE_MODEL_KIND(kind) &kind::kLoader,
const ModelLoader* const kToyLoaders[] = {
#include "tests/unit/models/toy_kinds/toy_kinds.inc"
};
#undef MILLRACE_MODEL_KIND

class Collector final : public OutputSink {
 public:
  void Emit(Output output) override { outputs.push_back(std::move(output)); }

  std::vector<Output> outputs;
};

// Kinds that are added with a message, a line and files of their own, and nothing else.
class ToyKindsTest : public ::testing::Test {
 protected:
  ToyKindsTest()
      : repository_(
            folder_.path(),
            MakeModelFactory(runtime::DeviceType::kCpu, ShapePolicy::kPadded, {}, kToyLoaders),
            {&toy::v1::ModelConfig::default_instance(), kToyKinds}) {}

  void Write(const std::string& model, const std::string& file, const std::string& text) {
    std::filesystem::create_directories(folder_.path() / model / "1");
    std::ofstream(folder_.path() / model / "1" / file) << text;
  }

  // Returns the model's answer, in steps as a worker takes them.
  std::vector<Output> Answer(const Model& model, Input input) {
    EXPECT_TRUE(model.Validate(input).ok());
    Collector sink;
    Request request(std::move(input), TimePoint::max(), sink);
    EXPECT_TRUE(testing::RunToEnd(model, request).ok());
    return std::move(sink.outputs);
  }

  const testing::TemporaryFolder folder_;
  const ModelRepository repository_;
};

TEST_F(ToyKindsTest, ASpeechModelIsFoundLoadedAndServed) {
  Write("beep", "model.pbtxt",
        "license: 'CC0-1.0' batching { max_batch: 3 }\n"
        "toy_speech { file: 'pitch' language: 'en' voice: 'bell' }");
  Write("beep", "pitch", "440");
  const auto model = repository_.Load("beep");
  ASSERT_TRUE(model.ok()) << model.status();
  const ModelInfo& info = (*model)->info();
  EXPECT_EQ(info.name, "beep");
  EXPECT_EQ(info.platform, "toy_speech");
  EXPECT_EQ(info.license, "CC0-1.0");
  EXPECT_EQ(info.task(), Task::kSynthesis);
  EXPECT_EQ(info.batching.max_batch, 3U);
  EXPECT_EQ(info.speech().voices, std::vector<std::string>{"bell"});

  SynthesizeInput input;
  input.text = "abc";
  const std::vector<Output> outputs = Answer(**model, input);
  ASSERT_EQ(outputs.size(), 1U);
  const auto& speech = std::get<SynthesizeOutput>(outputs.front());
  EXPECT_EQ(speech.sample_rate, info.speech().sample_rate);
  // The beeps stand between the silence of a text's ends and begin with a zero.
  const auto silence = [](float sample) { return sample == 0; };
  const auto first = std::ranges::find_if_not(speech.samples, silence);
  const auto last = std::find_if_not(speech.samples.rbegin(), speech.samples.rend(), silence);
  EXPECT_EQ(last.base() - first, 239);
  EXPECT_NEAR(*first, 0.3387, 1e-3);  // the sine of 440 Hz after 1/8000 s
}

TEST_F(ToyKindsTest, ASpeechModelIsCheckedAndCachedAsThoseOfOtherKinds) {
  Write("beep", "model.pbtxt", "toy_speech { file: 'pitch' language: 'en' voice: 'bell' }");
  Write("beep", "pitch", "440");
  speech::SpeechCache cache(uint64_t{1} << 20);
  const ModelRepository repository(folder_.path(),
                                   MakeModelFactory(runtime::DeviceType::kCpu, ShapePolicy::kPadded,
                                                    {.speech = &cache}, kToyLoaders),
                                   {&toy::v1::ModelConfig::default_instance(), kToyKinds});
  const auto model = repository.Load("beep");
  ASSERT_TRUE(model.ok()) << model.status();
  const auto refusal = [&](auto change) {
    SynthesizeInput input;
    input.text = "abc";
    change(input);
    return std::string((*model)->Validate(input).message());
  };
  EXPECT_THAT(refusal([](auto& i) { i.voice = "gong"; }), HasSubstr("voice: "));
  EXPECT_THAT(refusal([](auto& i) { i.text = " "; }), HasSubstr("text: "));
  EXPECT_THAT(refusal([](auto& i) { i.speed = 9; }), HasSubstr("speed: 9"));
  EXPECT_EQ(refusal([](auto& i) { i.noise_w = 0.5F; }),
            "noise_w: 0.5 is not allowed; model 'beep' has no such setting, leave it unset");
  EXPECT_EQ((*model)->Validate(TranslateInput{}).message(),
            "model 'beep' synthesizes speech and does nothing else");

  SynthesizeInput input;
  input.text = "abc.\ncab.";
  const std::vector<Output> spoken = Answer(**model, input);
  EXPECT_EQ(cache.stats().hits, 0U);
  const std::vector<Output> known = Answer(**model, input);
  EXPECT_EQ(cache.stats().hits, 2U);
  ASSERT_EQ(spoken.size(), known.size());
  for (size_t i = 0; i < spoken.size(); ++i) {
    EXPECT_EQ(std::get<SynthesizeOutput>(known[i]).samples,
              std::get<SynthesizeOutput>(spoken[i]).samples);
  }
}

TEST_F(ToyKindsTest, ATextModelIsFoundLoadedAndServed) {
  Write("backwards", "model.pbtxt", "toy_text { source_language: 'en' target_language: 'ne' }");
  const auto model = repository_.Load("backwards");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->info().task(), Task::kTranslation);
  EXPECT_EQ((*model)->info().translation().target_language, "ne");

  const std::vector<Output> outputs = Answer(**model, TranslateInput{.texts = {"one two three"}});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(std::get<TranslateOutput>(outputs.front()).text, "three two one");
}

TEST_F(ToyKindsTest, MistakesAreReportedAsThoseOfOtherKinds) {
  Write("mute", "model.pbtxt", "toy_speech {\n  file: 'pitch'\n}");
  const auto mute = repository_.Find("mute");
  EXPECT_THAT(std::string(mute.status().message()),
              HasSubstr(":1:1: toy_speech.voice: is missing, allowed 1..128 characters"));

  Write("empty", "model.pbtxt", "license: 'CC0-1.0'");
  EXPECT_THAT(std::string(repository_.Find("empty").status().message()),
              HasSubstr("allowed is exactly one of toy_speech, toy_text"));

  Write("beep", "model.pbtxt", "toy_speech { file: 'pitch' voice: 'bell' }");
  EXPECT_THAT(std::string(repository_.Find("beep").status().message()),
              HasSubstr("no such file, but model.pbtxt names it"));
}

TEST(ModelFactoryTest, RefusesAKindWithoutALoader) {
  const ModelFactory factory =
      MakeModelFactory(runtime::DeviceType::kCpu, ShapePolicy::kPadded, {}, {});
  const auto config =
      ParseModelConfig("toy_text { source_language: 'en' target_language: 'ne' }", "model.pbtxt",
                       {&toy::v1::ModelConfig::default_instance(), kToyKinds});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(factory(*config, "folder", {}).status().message(),
            "models of the kind toy_text cannot be loaded");
}

}  // namespace
}  // namespace millrace::models
