#include "models/core/voice_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::models {
namespace {

const std::vector<std::string> kNames = {"anna", "Ben", "ben"};

TEST(VoiceNameTest, WeightsStandBehindAColonOrInParentheses) {
  for (const char* voice : {"anna:0.3+Ben:0.7", "anna(0.3)+Ben(0.7)", "ANNA:0.3+Ben(0.7)"}) {
    const std::vector<VoicePart> parts = VoiceParts(voice);
    ASSERT_EQ(parts.size(), 2U) << voice;
    EXPECT_EQ(parts[0].weight, "0.3") << voice;
    EXPECT_EQ(parts[1].name, "Ben") << voice;
    EXPECT_EQ(parts[1].weight, "0.7") << voice;
    EXPECT_EQ(InOwnSpelling(kNames, voice), "anna:0.3+Ben:0.7") << voice;
  }
}

TEST(VoiceNameTest, ANameIsShortAndHasNothingThatDividesAMix) {
  for (const std::string& name :
       {std::string("af_heart"), std::string("Zo\u00eb 2"), std::string(128, 'a')})
    EXPECT_EQ(VoiceNameMistake(name, /*mixed=*/true), "") << name;
  for (const std::string& name :
       {std::string(), std::string(129, 'a'), std::string("a\nb"), std::string("a\0b", 3)}) {
    EXPECT_THAT(
        VoiceNameMistake(name, /*mixed=*/false),
        testing::EndsWith(
            "' is no name of a voice, allowed are 1..128 bytes without control characters"));
  }
  for (const char* name : {"a+b", "a:b", "a(2)"}) {
    EXPECT_EQ(VoiceNameMistake(name, /*mixed=*/false), "");
    EXPECT_THAT(VoiceNameMistake(name, /*mixed=*/true),
                testing::EndsWith("without control characters, +, : and ("));
  }
}

TEST(VoiceNameTest, WhatIsNoWeightIsPartOfTheName) {
  EXPECT_EQ(VoiceParts("anna(2")[0].name, "anna(2");
  EXPECT_FALSE(VoiceParts("anna")[0].weight);
  EXPECT_EQ(VoiceParts("").size(), 1U);
  EXPECT_EQ(VoiceParts("a++b").size(), 3U);
  EXPECT_EQ(InOwnSpelling(kNames, "nobody+anna()"), "nobody+anna:");
}

TEST(VoiceNameTest, TheOwnSpellingComesFirst) {
  EXPECT_EQ(FindVoice(kNames, "ben"), 2U);
  EXPECT_EQ(FindVoice(kNames, "BEN"), 1U);
  EXPECT_EQ(FindVoice(kNames, "be"), std::string::npos);
}

}  // namespace
}  // namespace millrace::models
