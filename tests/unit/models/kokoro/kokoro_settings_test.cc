#include "models/kokoro/kokoro_settings.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/fakes/temporary_folder.h"

namespace millrace::kokoro {
namespace {

class KokoroSettingsTest : public ::testing::Test {
 protected:
  absl::StatusOr<KokoroSettings> Read(const std::string& text) {
    std::ofstream(folder_.path() / "kokoro.json") << text;
    return KokoroSettings::Read(folder_.path() / "kokoro.json");
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(KokoroSettingsTest, SymbolsBecomeNumbersAndUnknownOnesAreLeftOut) {
  const auto settings =
      Read(R"({"sample_rate": 24000, "voices": ["b", "a"], "vocab": {"a": 3, "ʤ": 82, " ": 16}})");
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->voices, (std::vector<std::string>{"b", "a"}));
  const speech::PhonemeIds read = settings->ToIds("a ʤxa\xff");
  EXPECT_EQ(read.ids, (std::vector<int64_t>{3, 16, 82, 3}));
  EXPECT_EQ(read.symbols, (std::vector<speech::PhonemeSymbol>{
                              {0, 1, 0, 1}, {1, 2, 1, 2}, {2, 4, 2, 3}, {5, 6, 3, 4}}));
  EXPECT_EQ(settings->largest_id(), 82);
}

TEST_F(KokoroSettingsTest, WhatIsWrongIsNamed) {
  const std::pair<std::string, const char*> cases[] = {
      {"{", "not the JSON file of a Kokoro model"},
      {R"({"voices": ["a"], "vocab": {"a": 1}})", "sample_rate"},
      {R"({"sample_rate": 1, "voices": ["a"], "vocab": {"a": 1}})",
       "sample_rate is 1, allowed are 8000..192000"},
      {R"({"sample_rate": 24000, "voices": [], "vocab": {"a": 1}})", "voices is empty"},
      {R"({"sample_rate": 24000, "voices": ["a+b"], "vocab": {"a": 1}})", "'a+b' is no name"},
      {R"({"sample_rate": 24000, "voices": [")" + std::string(200, 'a') +
           R"("], "vocab": {"a": 1}})",
       "is no name of a voice, allowed are 1..128 bytes"},
      {R"({"sample_rate": 24000, "voices": ["a", "a"], "vocab": {"a": 1}})", "'a' is there twice"},
      {R"({"sample_rate": 24000, "voices": ["a"], "vocab": {}})", "vocab is empty"},
      {R"({"sample_rate": 24000, "voices": ["a"], "vocab": {"ab": 1}})", "'ab' is not one"},
      {R"({"sample_rate": 24000, "voices": ["a"], "vocab": {"a": 0}})", "U+0061 has the number 0"},
      {R"({"sample_rate": 24000, "voices": ["a"], "vocab": {"a": "x"}})", "not the JSON file"},
  };
  for (const auto& [text, message] : cases) {
    const auto settings = Read(text);
    EXPECT_EQ(settings.status().code(), absl::StatusCode::kDataLoss) << text;
    const std::string actual(settings.status().message());
    EXPECT_NE(actual.find("kokoro.json: "), std::string::npos) << actual;
    EXPECT_NE(actual.find(message), std::string::npos) << actual;
  }
}

}  // namespace
}  // namespace millrace::kokoro
