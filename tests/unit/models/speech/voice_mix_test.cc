#include "models/speech/voice_mix.h"

#include <gtest/gtest.h>

namespace millrace::speech {
namespace {

const std::vector<std::string> kVoices = {"anna", "ben", "clara"};

std::vector<VoiceShare> Parse(std::string_view text) {
  const auto shares = ParseVoiceMix(text, kVoices);
  EXPECT_TRUE(shares.ok()) << shares.status();
  return shares.ok() ? *shares : std::vector<VoiceShare>();
}

TEST(VoiceMixTest, NothingIsTheFirstVoice) {
  const auto shares = Parse("");
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].voice, 0U);
  EXPECT_EQ(shares[0].weight, 1.0F);
}

TEST(VoiceMixTest, WithoutWeightsTheSharesAreEqual) {
  const auto shares = Parse("ben+clara");
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].voice, 1U);
  EXPECT_EQ(shares[1].voice, 2U);
  EXPECT_EQ(shares[0].weight, 0.5F);
  EXPECT_EQ(shares[1].weight, 0.5F);
}

TEST(VoiceMixTest, WeightsAreTakenAsTheyAre) {
  const auto shares = Parse("anna:0.3+clara:0.7004");
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_FLOAT_EQ(shares[0].weight, 0.3F);
  EXPECT_FLOAT_EQ(shares[1].weight, 0.7004F);
  EXPECT_EQ(Parse("ben:1")[0].voice, 1U);
  EXPECT_EQ(Parse("anna+ben+clara").size(), 3U);
}

TEST(VoiceMixTest, WeightsAreDividedByTheirSum) {
  for (const char* text : {"anna:2+ben:6", "anna(2)+ben(6)", "ANNA(0.5)+Ben(1.5)"}) {
    const auto shares = Parse(text);
    ASSERT_EQ(shares.size(), 2U) << text;
    EXPECT_EQ(shares[0].voice, 0U) << text;
    EXPECT_FLOAT_EQ(shares[0].weight, 0.25F) << text;
    EXPECT_FLOAT_EQ(shares[1].weight, 0.75F) << text;
  }
  EXPECT_FLOAT_EQ(Parse("anna:0.5")[0].weight, 1.0F);
  EXPECT_FLOAT_EQ(Parse("anna(3e38)+ben(3e38)")[1].weight, 0.5F);
}

TEST(VoiceMixTest, AVoiceWithoutAWeightBesideWeightsHasOne) {
  for (const char* text : {"anna(3)+ben", "anna:3+ben", "ANNA:3+ben:1"}) {
    const auto shares = Parse(text);
    EXPECT_FLOAT_EQ(shares[0].weight, 0.75F) << text;
    EXPECT_FLOAT_EQ(shares[1].weight, 0.25F) << text;
  }
  const auto three = Parse("anna+ben:2+clara");
  EXPECT_FLOAT_EQ(three[0].weight, 0.25F);
  EXPECT_FLOAT_EQ(three[1].weight, 0.5F);
  EXPECT_FLOAT_EQ(three[2].weight, 0.25F);
  EXPECT_FLOAT_EQ(Parse("anna:0.5+ben")[1].weight, 1 / 1.5F);
}

TEST(VoiceMixTest, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"dora", "there is no voice 'dora'; there are: anna, ben, clara"},
      {"anna+", "there is no voice ''"},
      {"+", "there is no voice ''"},
      {"anna(0)+ben(1)", "the weight '0' of anna is not a number greater than 0"},
      {"anna()+ben(1)", "the weight '' of anna"},
      {"anna(2", "there is no voice 'anna(2'"},
      {"anna(2)x+ben(1)", "there is no voice 'anna(2)x'"},
      {"anna+ANNA", "it has ANNA twice"},
      {"anna:0+ben:1", "the weight '0' of anna is not a number greater than 0"},
      {"anna:-1+ben:2", "the weight '-1' of anna"},
      {"anna:nan+ben:1", "the weight 'nan' of anna"},
      {"anna:inf+ben:1", "the weight 'inf' of anna"},
      {"anna:+ben:1", "the weight '' of anna"},
      {"anna:0.5x+ben:0.5", "the weight '0.5x' of anna"},
      {"anna+anna", "it has anna twice"},
      {"anna+ben+clara+anna+ben+clara+anna+ben+clara+anna+ben+clara+anna+ben+clara+anna+ben",
       "it mixes 17 voices, at most 16"},
  };
  for (const auto& [text, message] : cases) {
    const auto shares = ParseVoiceMix(text, kVoices);
    EXPECT_EQ(shares.status().code(), absl::StatusCode::kInvalidArgument) << text;
    const std::string actual(shares.status().message());
    EXPECT_EQ(actual.rfind("voice: ", 0), 0U) << actual;
    EXPECT_NE(actual.find(message), std::string::npos) << actual;
  }
}

}  // namespace
}  // namespace millrace::speech
