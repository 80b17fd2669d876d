#include "server/frontends/elevenlabs/stream_query.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

class StreamQueryTest : public ::testing::Test {
 protected:
  StreamQueryTest() { backend_.Add(VoiceInfo("joe"), {}); }

  absl::StatusOr<StreamOptions> Parse(const std::string& parameters,
                                      const std::string& voice = "second") {
    Query query(parameters);
    return ParseStreamQuery(query, voice, /*multi=*/true, names_);
  }

  TestBackend backend_;
  const SpeechNames names_{backend_.directory, backend_.services().voice_aliases};
};

TEST_F(StreamQueryTest, TheQueryBecomesARequestForSpeech) {
  const auto options = Parse(
      "model_id=eleven_flash_v2_5&output_format=pcm_16000&auto_mode=true&inactivity_timeout=180&"
      "seed=7&enable_logging=false&enable_ssml_parsing=false");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_TRUE(options->multi);
  EXPECT_TRUE(options->auto_mode);
  EXPECT_EQ(options->inactivity_timeout, std::chrono::seconds(180));
  EXPECT_EQ(options->speech.model, "joe");
  EXPECT_EQ(options->speech.voice, "second");
  EXPECT_EQ(options->speech.seed, 7U);
  EXPECT_EQ(options->speech.sample_rate, 16'000U);
  EXPECT_TRUE(options->speech.word_times);
  EXPECT_EQ(options->speech.text_format, SpeechTextFormat::kPlain);
}

TEST_F(StreamQueryTest, TextsAreSsmlIfTheQuerySaysSo) {
  const auto options = Parse("enable_ssml_parsing=true");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->speech.text_format, SpeechTextFormat::kSsmlFragment);
}

TEST_F(StreamQueryTest, TextsAreWhatOurOwnParameterSays) {
  const auto format = [this](const std::string& parameters) {
    const auto options = Parse(parameters);
    EXPECT_TRUE(options.ok()) << options.status();
    return options.ok() ? options->speech.text_format : SpeechTextFormat::kPlain;
  };
  EXPECT_EQ(format("text_format=tags"), SpeechTextFormat::kTags);
  EXPECT_EQ(format("text_format=ssml"), SpeechTextFormat::kSsmlFragment);
  EXPECT_EQ(format("text_format=ssml&enable_ssml_parsing=true"), SpeechTextFormat::kSsmlFragment);
  EXPECT_EQ(format("text_format=text"), SpeechTextFormat::kPlain);
}

TEST_F(StreamQueryTest, DefaultsAreThoseOfElevenLabs) {
  const auto options = Parse("", "alloy");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->speech.format, models::AudioFormat::kMp3);
  EXPECT_EQ(options->speech.sample_rate, 44'100U);
  EXPECT_EQ(options->inactivity_timeout, std::chrono::seconds(20));
  EXPECT_EQ(options->speech.voice, "first");
}

TEST_F(StreamQueryTest, IdsOfElevenLabsStandForAVoiceOfTheLanguage) {
  const auto options = Parse("", "21m00Tcm4TlvDq8ikWAM");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->speech.model, "joe");
  EXPECT_EQ(options->speech.voice, "");
  for (const char* id : {"21m00Tcm4TlvDq8ikWA", "21m00Tcm4TlvDq8ikW-M", "abcdefghijklmnopqrst"})
    EXPECT_FALSE(Parse("", id).ok()) << id;
}

TEST_F(StreamQueryTest, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"enable_ssml_parsing=yes", "enable_ssml_parsing: 'yes' is not allowed; it is true or false"},
      {"text_format=SSML", "text_format: 'SSML' is not allowed; it is text, tags or ssml"},
      {"text_format=tags&enable_ssml_parsing=true",
       "text_format: 'tags' is not allowed with enable_ssml_parsing=true, which is ssml"},
      {"auto_mode=maybe", "auto_mode: 'maybe' is not allowed; it is true or false"},
      {"inactivity_timeout=0",
       "inactivity_timeout: '0' is not allowed; it is a whole number of 1..180"},
      {"inactivity_timeout=181",
       "inactivity_timeout: '181' is not allowed; it is a whole number of 1..180"},
      {"seed=-1", "seed: '-1' is not allowed; it is a whole number of 0..18446744073709551615"},
      {"language_code=%ff", "language_code: must be valid UTF-8"},
      {"seed=1&seed=1", "seed: is given twice in the query"},
      {"output_format=pcm_16000&output_format=mp3_44100_128",
       "output_format: is given twice in the query"},
      {"auto_mode=true&auto_mode=", "auto_mode: is given twice in the query"},
  };
  for (const auto& [query, error] : cases) EXPECT_EQ(Parse(query).status().message(), error);
  EXPECT_EQ(Parse("", "rachel").status().message(),
            "voice: 'rachel' is a voice of no model; there are: first, second (joe); OpenAI's "
            "names, such as alloy, stand for one of them");
  EXPECT_FALSE(Parse("", "\xff").ok());
}

}  // namespace
}  // namespace millrace::server
