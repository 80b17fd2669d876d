#include "models/vits/voice_config.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/fakes/temporary_folder.h"

namespace millrace::vits {
namespace {

constexpr char kGood[] = R"({"audio": {"sample_rate": 22050}, "espeak": {"voice": "en-us"},
  "inference": {"noise_scale": 0.1, "length_scale": 1.5, "noise_w": 0.3},
  "phoneme_id_map": {"_": [0], "^": [1], "$": [2], "a": [3], "b": [4, 5], "a\u026a": [6], "\u0259": [7]},
  "vowel_clusters": [["a", "\u026a"]]})";

absl::StatusOr<VoiceConfig> Read(const std::string& json) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.path() / "voice.json") << json;
  return VoiceConfig::Read(folder.path() / "voice.json");
}

std::string With(const std::string& from, const std::string& to) {
  std::string json = kGood;
  json.replace(json.find(from), from.size(), to);
  return json;
}

TEST(VoiceConfigTest, ReadsWhatTheVoiceSays) {
  const auto voice = Read(kGood);
  ASSERT_TRUE(voice.ok()) << voice.status();
  EXPECT_EQ(voice->sample_rate, 22050);
  EXPECT_EQ(voice->espeak_voice, "en-us");
  EXPECT_FLOAT_EQ(voice->noise_scale, 0.1F);
  EXPECT_FLOAT_EQ(voice->length_scale, 1.5F);
  EXPECT_FLOAT_EQ(voice->noise_w, 0.3F);
  EXPECT_EQ(voice->largest_id(), 7);
}

TEST(VoiceConfigTest, PutsAPadBehindEachPhoneme) {
  const auto voice = Read(kGood);
  ASSERT_TRUE(voice.ok());
  EXPECT_EQ(voice->ToIds("ab\u0259").ids, (std::vector<int64_t>{1, 0, 3, 0, 4, 5, 0, 7, 0, 2}));
}

TEST(VoiceConfigTest, APhonemeHasThePadBehindIt) {
  const auto voice = Read(kGood);
  ASSERT_TRUE(voice.ok());
  // "b" has two numbers, "z" is unknown.
  EXPECT_EQ(voice->ToIds("abz\u0259").symbols,
            (std::vector<speech::PhonemeSymbol>{{0, 1, 2, 4}, {1, 2, 4, 7}, {3, 5, 7, 9}}));
}

TEST(VoiceConfigTest, TheMarksOfTheNetworkAreNoPhonemes) {
  const auto voice = Read(kGood);
  ASSERT_TRUE(voice.ok());
  EXPECT_TRUE(voice->ToIds("^_$").symbols.empty());
}

TEST(VoiceConfigTest, TheLongestPhonemeWins) {
  const auto voice = Read(kGood);
  ASSERT_TRUE(voice.ok());
  EXPECT_EQ(voice->ToIds("a\u026aa").ids, (std::vector<int64_t>{1, 0, 6, 0, 3, 0, 2}));
}

TEST(VoiceConfigTest, AClusterThatTheVoiceWasTrainedWithoutIsItsVowels) {
  for (const char* clusters : {"[]", "null", R"([["o", "\u028a"]])"}) {
    const auto voice = Read(With(R"([["a", "\u026a"]])", clusters));
    ASSERT_TRUE(voice.ok()) << voice.status();
    EXPECT_EQ(voice->ToIds("a\u026a\u0259").ids, (std::vector<int64_t>{1, 0, 3, 0, 7, 0, 2}));
  }
}

TEST(VoiceConfigTest, APhonemeMaySpeakAsOthers) {
  const auto voice = Read(With(R"("vowel_clusters")",
                               R"("phoneme_map": {"c": ["a", "b"], "a": ["\u0259"], "b": ["?"]},
                                  "vowel_clusters")"));
  ASSERT_TRUE(voice.ok()) << voice.status();
  EXPECT_EQ(voice->ToIds("c").ids, (std::vector<int64_t>{1, 0, 3, 0, 4, 5, 0, 2}));
  EXPECT_EQ(voice->ToIds("a").ids, (std::vector<int64_t>{1, 0, 7, 0, 2}));
  EXPECT_EQ(voice->ToIds("b").ids, (std::vector<int64_t>{1, 0, 2}));
}

TEST(VoiceConfigTest, LeavesOutWhatTheVoiceDoesNotKnow) {
  const auto voice = Read(kGood);
  ASSERT_TRUE(voice.ok());
  EXPECT_EQ(voice->ToIds("a\u6771\xF0z").ids, (std::vector<int64_t>{1, 0, 3, 0, 2}));
  // A byte that is not UTF-8 does not take the symbols behind it along.
  EXPECT_EQ(voice
                ->ToIds("\xF0"
                        "a")
                .ids,
            (std::vector<int64_t>{1, 0, 3, 0, 2}));
}

TEST(VoiceConfigTest, MistakesAreNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "not the JSON file"},
      {"{}", "audio"},
      {"[1, 2", "not the JSON file"},
      {With("22050", "1"), "audio.sample_rate is 1"},
      {With("22050", "\"x\""), "not the JSON file"},
      {With("en-us", ""), "espeak.voice"},
      {With(R"("vowel)", R"("num_speakers": 1000000000000, "vowel)"),
       "num_speakers is 1000000000000"},
      {With(R"("vowel)", R"("speaker_id_map": {")" + std::string(129, 'x') + R"(": 0}, "vowel)"),
       "speaker_id_map: '" + std::string(64, 'x') + "...' is no name of a voice"},
      {With(R"("vowel)", R"("phoneme_type": "pinyin", "vowel)"),
       "phoneme_type is 'pinyin', allowed are 'espeak' and 'text'"},
      {With(R"("vowel)", R"("phoneme_map": ["c"], "vowel)"), "not the JSON file"},
      {With(R"([["a", "\u026a"]])", "[1]"), "not the JSON file"},
      {With("en-us", "--version"), "espeak.voice"},
      {With("1.5", "0"), "length_scale"},
      {With("0.1", "-1"), "inference"},
      {With("\"^\": [1]", "\"^\": []"), "phoneme_id_map has no '^'"},
      {With("[3]", "[-3]"), "'a' has the id -3"},
      {With("[3]", "3"), "not the JSON file"}};
  for (const auto& [json, expected] : cases) {
    const auto voice = Read(json);
    ASSERT_FALSE(voice.ok()) << json;
    EXPECT_NE(voice.status().message().find(expected), std::string::npos) << voice.status();
    EXPECT_NE(voice.status().message().find("voice.json"), std::string::npos) << voice.status();
  }
  EXPECT_EQ(VoiceConfig::Read("/nowhere/voice.json").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace millrace::vits
