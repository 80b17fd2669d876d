// The real voice and the real translators on many threads that encode at once, each with graphs of
// its own as with a patched libtorch, on the stand-in for Apple's GPU. Needs converted models.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "models/probe/model_probe.h"
#include "tests/fakes/models_folder.h"
#include "tests/fakes/mps/faults.h"

namespace millrace::models {
namespace {

using mps_standin::TheFaults;

class ModelsOnMpsTest : public ::testing::TestWithParam<std::tuple<const char*, int>> {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  void TearDown() override {
    TheFaults().Set("patch_level=0 shared_caches=0 encode_microseconds=0");
  }

  static bool GivesTheOutputsOfOneThread() {
    const auto& [model, threads] = GetParam();
    return RunModelHere({.repository = testing::ModelsFolder(),
                         .name = model,
                         .threads = threads,
                         .rounds = 2,
                         .inputs = {ShortInput(model)},
                         .device = runtime::DeviceType::kMps});
  }

  static Input ShortInput(const std::string& model) {
    if (model.starts_with("piper")) {
      SynthesizeInput input;
      input.text = "Good morning.";
      return input;
    }
    TranslateInput input;
    input.texts = {model.ends_with("pt") ? "Good morning." : "Bom dia."};
    input.use_cache = false;
    return input;
  }
};

TEST_P(ModelsOnMpsTest, GraphsOfEachThreadWorkWithoutAnEncodeLock) {
  TheFaults().patch_level = 1;
  EXPECT_TRUE(GivesTheOutputsOfOneThread());
}

TEST_P(ModelsOnMpsTest, SharedGraphsWithoutAnEncodeLockEndTheProcess) {
  EXPECT_DEATH(
      {
        TheFaults().Set("patch_level=1 shared_caches=1 encode_microseconds=300");
        GivesTheOutputsOfOneThread();
      },
      "two threads encode one graph");
}

INSTANTIATE_TEST_SUITE_P(Models, ModelsOnMpsTest,
                         ::testing::Combine(::testing::Values("piper-en-us-joe", "bergamot-en-pt",
                                                              "bergamot-pt-en"),
                                            ::testing::Values(2, 8, 31)),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param);
                           std::erase(name, '-');
                           return name + "On" + std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace millrace::models
