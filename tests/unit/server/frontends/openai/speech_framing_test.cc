#include "server/frontends/openai/speech_framing.h"

#include <gtest/gtest.h>

#include <string>

#include "models/core/strings.h"

namespace millrace::server {
namespace {

models::SynthesizeOutput Piece(int64_t begin, int64_t end) {
  models::SynthesizeOutput piece;
  piece.sample_rate = 8000;
  piece.words = {{"Ol\"\xC3\xA1", begin, end, 0}};
  return piece;
}

constexpr char kFirst[] = R"({"audio":"YWI=","audio_format":"audio/mpeg",)"
                          R"("timestamps":[{"word":"Ol\")"
                          "\xC3\xA1"
                          R"(","start_time":0.1,"end_time":0.2}]})";

TEST(OpenAiFramerTest, TheAudioItselfHasNothingAroundIt) {
  OpenAiFramer framer(SpeechFraming::kAudio, models::AudioFormat::kMp3, 5);
  EXPECT_EQ(framer.Push(Piece(0, 1), "ab"), "ab");
  EXPECT_EQ(framer.Close("cd", 1), "cd");
}

TEST(OpenAiFramerTest, UsageIsOfTheTextAndTheAudio) {
  OpenAiFramer framer(SpeechFraming::kEvents, models::AudioFormat::kMp3, 5);
  EXPECT_EQ(framer.Close("", 1.51),
            "data: {\"type\":\"speech.audio.done\",\"usage\":{\"input_tokens\":5,"
            "\"output_tokens\":31,\"total_tokens\":36}}\n\n");
}

TEST(OpenAiFramerTest, ACaptionHasTheWordsThatCameBeforeItsAudio) {
  OpenAiFramer framer(SpeechFraming::kCaptions, models::AudioFormat::kMp3, 5);
  EXPECT_EQ(framer.Push(Piece(800, 1600), ""), "");
  EXPECT_EQ(framer.Push({}, "ab"), StrCat(kFirst, "\n"));
  EXPECT_EQ(framer.Push({}, ""), "");
  EXPECT_EQ(framer.Close("c", 1),
            "{\"audio\":\"Yw==\",\"audio_format\":\"audio/mpeg\",\"timestamps\":[]}\n");
}

TEST(OpenAiFramerTest, WordsWithoutAudioAreNotLost) {
  OpenAiFramer framer(SpeechFraming::kCaptions, models::AudioFormat::kMp3, 5);
  framer.Push(Piece(800, 1600), "");
  EXPECT_NE(framer.Close("", 1).find("\"audio\":\"\""), std::string::npos);
  EXPECT_EQ(OpenAiFramer(SpeechFraming::kCaptions, models::AudioFormat::kMp3, 5).Close("", 0), "");
}

TEST(OpenAiFramerTest, AWholeCaptionComesAtTheEnd) {
  OpenAiFramer framer(SpeechFraming::kWholeCaption, models::AudioFormat::kMp3, 5);
  EXPECT_EQ(framer.Push(Piece(800, 1600), "a"), "");
  EXPECT_EQ(framer.Close("b", 1), kFirst);
}

}  // namespace
}  // namespace millrace::server
