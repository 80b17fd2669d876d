#include "server/frontends/openai/speech_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "server/json/ignored_members.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SpeechJsonTest, DefaultsAreOpenAis) {
  const HttpSpeechRequest request = ParseSpeechJson(R"({"model": "m", "input": "Hi"})").value();
  EXPECT_EQ(request.speech.model, "m");
  EXPECT_EQ(request.speech.text, "Hi");
  EXPECT_EQ(request.speech.voice, "");
  EXPECT_EQ(request.speech.format, models::AudioFormat::kMp3);
  EXPECT_EQ(request.speech.sample_rate, 0U);
  EXPECT_FALSE(request.speech.speed);
  EXPECT_EQ(request.framing, SpeechFraming::kAudio);
}

TEST(SpeechJsonTest, EveryMemberIsTaken) {
  const HttpSpeechRequest request =
      ParseSpeechJson(R"({"model": "m", "input": "Ol\u00e1", "voice": "joe", "speed": 1.5,
                          "response_format": "opus", "stream_format": "sse", "instructions": "calm",
                          "sample_rate": 16000, "normalize_loudness": true,
                          "seed": 18446744073709551615, "language": "ja"})")
          .value();
  EXPECT_EQ(request.speech.text, "Ol\xC3\xA1");
  EXPECT_EQ(request.speech.voice, "joe");
  EXPECT_EQ(request.speech.speed, 1.5F);
  EXPECT_EQ(request.speech.format, models::AudioFormat::kOggOpus);
  EXPECT_EQ(request.framing, SpeechFraming::kEvents);
  EXPECT_EQ(request.speech.sample_rate, 16000U);
  EXPECT_TRUE(request.speech.normalize_loudness);
  EXPECT_EQ(request.speech.seed, 18446744073709551615U);
  EXPECT_EQ(request.speech.language, "ja");
}

TEST(SpeechJsonTest, TheFormatOfTheTextIsNamed) {
  const auto take = [](const std::string& format) {
    return ParseSpeechJson(R"({"model": "m", "input": "<speak/>", "text_format": )" + format + "}");
  };
  EXPECT_EQ(ParseSpeechJson(R"({"model": "m", "input": "<speak/>"})")->speech.text_format,
            SpeechTextFormat::kPlain);
  EXPECT_EQ(take(R"("text")")->speech.text_format, SpeechTextFormat::kPlain);
  EXPECT_EQ(take(R"("tags")")->speech.text_format, SpeechTextFormat::kTags);
  EXPECT_EQ(take(R"("ssml")")->speech.text_format, SpeechTextFormat::kSsml);
  EXPECT_EQ(take(R"("SSML")").status().message(),
            "text_format: 'SSML' is not allowed; it is text, tags or ssml");
  EXPECT_EQ(take("1").status().message(), "text_format: must be a string, not number '1'");
}

TEST(SpeechJsonTest, TimestampsAreOfWordsAndPhonemes) {
  const auto take = [](const std::string& list) {
    const auto request = ParseSpeechJson(R"({"model": "m", "input": "x", "timestamps": )" + list +
                                         R"(, "stream_format": "sse"})");
    EXPECT_TRUE(request.ok()) << request.status();
    return std::pair(request->speech.word_times, request->speech.phoneme_times);
  };
  EXPECT_EQ(take("[]"), std::pair(false, false));
  EXPECT_EQ(take(R"(["phoneme"])"), std::pair(false, true));
  EXPECT_EQ(take(R"(["word", "phoneme"])"), std::pair(true, true));
}

TEST(SpeechJsonTest, PhonemesStandForTheInput) {
  const auto request = ParseSpeechJson(R"({"model": "m", "phonemes": "həlˈO."})");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->speech.phonemes, "həlˈO.");
  EXPECT_EQ(request->speech.text, "");
  // OpenAI's clients send an input always.
  EXPECT_TRUE(ParseSpeechJson(R"({"model": "m", "input": "", "phonemes": "həlˈO."})").ok());
  EXPECT_THAT(ParseSpeechJson(R"({"model": "m", "phonemes": ""})").status().message(),
              HasSubstr("input: is missing"));
}

TEST(SpeechJsonTest, NullIsAsIfTheMemberWereNotThere) {
  const auto request =
      ParseSpeechJson(R"({"model": "m", "input": "x", "speed": null, "voice": null})");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_FALSE(request->speech.speed);
}

HttpSpeechRequest With(const std::string& members) {
  const auto request = ParseSpeechJson(R"({"model": "m", "input": "x", )" + members + "}");
  EXPECT_TRUE(request.ok()) << request.status();
  return request.value_or(HttpSpeechRequest());
}

TEST(SpeechJsonTest, AVoiceMayBeAnObjectWithAnId) {
  EXPECT_EQ(With(R"("voice": {"id": "joe"})").speech.voice, "joe");
  const HttpSpeechRequest more = With(R"("voice": {"id": "joe", "name": "Joe"})");
  EXPECT_EQ(more.speech.voice, "joe");
  EXPECT_THAT(more.ignored, ElementsAre("voice.name"));
}

TEST(SpeechJsonTest, AMemberThatIsUnknownIsIgnoredByName) {
  const HttpSpeechRequest request =
      With(R"("user": "u", "tempo": {"a": [1]}, "task_type": "Base", "normalization_options": {},
              "download_format": null)");
  EXPECT_EQ(request.speech.text, "x");
  EXPECT_THAT(request.ignored, ElementsAre("normalization_options", "task_type", "tempo", "user"));
  EXPECT_TRUE(With(R"("instructions": "calm")").ignored.empty());
}

TEST(SpeechJsonTest, MembersOfOtherServersHaveTheirEffect) {
  const HttpSpeechRequest request =
      With(R"("lang_code": "p", "volume_multiplier": 0.5, "stream": false)");
  EXPECT_EQ(request.speech.language, "pt-BR");
  EXPECT_EQ(request.language_member(), "lang_code");
  EXPECT_EQ(request.speech.volume, 0.5F);
  EXPECT_TRUE(request.ignored.empty());
  EXPECT_EQ(With(R"("lang_code": "en-us")").speech.language, "en-us");
  EXPECT_EQ(With(R"("volume_multiplier": 4)").speech.volume, 4);
  const HttpSpeechRequest both = With(R"("lang_code": "j", "language": "es")");
  EXPECT_EQ(both.speech.language, "es");
  EXPECT_EQ(both.language_member(), "language");
}

TEST(SpeechJsonTest, TimingIsAskedForAsWordTimesWhichNeedEvents) {
  const HttpSpeechRequest events = With(R"("return_timing": true, "stream_format": "sse")");
  EXPECT_TRUE(events.speech.word_times);
  EXPECT_TRUE(events.ignored.empty());
  const HttpSpeechRequest audio = With(R"("return_timing": true)");
  EXPECT_FALSE(audio.speech.word_times);
  EXPECT_THAT(audio.ignored, ElementsAre("return_timing"));
  EXPECT_TRUE(With(R"("return_timing": false)").ignored.empty());
}

TEST(SpeechJsonTest, AModelNeedNotBeNamed) {
  EXPECT_EQ(ParseSpeechJson(R"({"input": "x"})")->speech.model, "");
  EXPECT_EQ(ParseSpeechJson(R"({"input": "x", "model": ""})")->speech.model, "");
}

TEST(SpeechJsonTest, WithoutAStreamShortTextsAreAFile) {
  const auto framing = [](const std::string& members, size_t characters = 1) {
    return ParseSpeechJson(R"({"input": ")" + std::string(characters, 'x') + "\"" + members + "}")
        ->framing;
  };
  EXPECT_EQ(framing(R"(, "stream": false)"), SpeechFraming::kFile);
  EXPECT_EQ(framing(R"(, "stream": false)", 5'000), SpeechFraming::kFile);
  EXPECT_EQ(framing(R"(, "stream": false)", 5'001), SpeechFraming::kAudio);
  EXPECT_EQ(framing(R"(, "stream": true)"), SpeechFraming::kAudio);
  EXPECT_EQ(framing(""), SpeechFraming::kAudio);
  EXPECT_EQ(framing(R"(, "stream": false, "stream_format": "sse")"), SpeechFraming::kEvents);
}

TEST(SpeechJsonTest, CaptionsAreAStreamWithTimesUnlessAskedOtherwise) {
  const auto captioned = [](const std::string& members) {
    return ParseSpeechJson(R"({"input": "x")" + members + "}", SpeechRoute::kCaptioned).value();
  };
  const HttpSpeechRequest plain = captioned("");
  EXPECT_EQ(plain.framing, SpeechFraming::kCaptions);
  EXPECT_TRUE(plain.speech.word_times);
  EXPECT_EQ(plain.speech.model, "");
  EXPECT_EQ(captioned(R"(, "model": "m")").speech.model, "m");
  const HttpSpeechRequest whole = captioned(R"(, "stream": false, "return_timestamps": false)");
  EXPECT_EQ(whole.framing, SpeechFraming::kWholeCaption);
  EXPECT_FALSE(whole.speech.word_times);
  const HttpSpeechRequest other =
      captioned(R"(, "stream_format": "sse", "timestamps": ["phoneme"], "ssml": false)");
  EXPECT_EQ(other.framing, SpeechFraming::kCaptions);
  EXPECT_FALSE(other.speech.phoneme_times);
  EXPECT_THAT(other.ignored, ElementsAre("ssml", "stream_format", "timestamps"));
  // These members belong to that API alone.
  EXPECT_THAT(With(R"("return_timestamps": true)").ignored, ElementsAre("return_timestamps"));
}

TEST(SpeechJsonTest, WrongMembersOfCaptionsAreNamed) {
  for (const auto& [body, message] : std::vector<std::pair<std::string, std::string>>{
           {"{}", "input: is missing"},
           {R"({"input": "x", "return_timestamps": 1})",
            "return_timestamps: must be true or false"},
           {R"({"input": "x", "stream": "no"})", "stream: must be true or false, not string"},
           {R"({"input": "x", "model": 1})", "model: must be a string"}}) {
    EXPECT_THAT(std::string(ParseSpeechJson(body, SpeechRoute::kCaptioned).status().message()),
                HasSubstr(message));
  }
}

TEST(IgnoredMembersTest, AreNamedInAHeaderThatTheyCannotBreak) {
  const auto warning = [](std::vector<std::string> names) { return IgnoredMembersWarning(names); };
  EXPECT_EQ(warning({"tempo", "user"}), "299 millrace \"ignored members: tempo, user\"");
  EXPECT_EQ(warning({"a\r\nSet-Cookie: b", "c\"\\", "\xC3\xA9", ""}),
            "299 millrace \"ignored members: a??Set-Cookie:?b, c??, ??, \"");
  EXPECT_EQ(warning({std::string(1'000'000, 'a')}),
            "299 millrace \"ignored members: " + std::string(64, 'a') + "...\"");
  EXPECT_LT(warning(std::vector<std::string>(100'000, std::string(100, 'a'))).size(), 1200U);
  EXPECT_THAT(warning(std::vector<std::string>(17, "a")), HasSubstr("a and 1 more\""));
  EXPECT_EQ(warning({}), "");
}

TEST(SpeechJsonTest, PcmIsAt24KilohertzUnlessAskedOtherwise) {
  EXPECT_EQ(ParseSpeechJson(R"({"model": "m", "input": "x", "response_format": "pcm"})")
                .value()
                .speech.sample_rate,
            24000U);
  EXPECT_EQ(ParseSpeechJson(
                R"({"model": "m", "input": "x", "response_format": "pcm", "sample_rate": 8000})")
                .value()
                .speech.sample_rate,
            8000U);
}

TEST(SpeechJsonTest, WhatIsWrongIsNamedWithWhatIsAllowed) {
  const auto with = [](const std::string& member) {
    return R"({"model": "m", "input": "x", )" + member + "}";
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "the body is empty; it must be a JSON object"},
      {"{", "not valid JSON"},
      {"[]", "must be a JSON object, not array"},
      {"7", "must be a JSON object, not number"},
      {std::string(90'000, '['), "not valid JSON"},
      {"{\"model\": \"m\", \"input\": \"\xFF\"}", "not valid UTF-8"},
      {R"({"model": "m", "input": "\ud800"})", "not valid JSON"},
      {R"({"model": "m"})", "input: is missing"},
      {R"({"model": "m", "input": null})", "input: is missing"},
      {R"({"model": 3, "input": "x"})", "model: must be a string, not number"},
      {R"({"model": "m", "input": ["x"]})", "input: must be a string, not array '[\"x\"]'"},
      {with(R"("voice": ["joe"])"), "voice: must be a string or an object with an id, not array"},
      {with(R"("voice": {})"), "voice: its id is missing; a voice is a string, or an object such"},
      {with(R"("voice": {"id": 7})"), "voice: its id must be a string, not number '7'; a voice is"},
      {with(R"("voice": {"id": null})"), "voice: its id must be a string, not null"},
      {with(R"("lang_code": 7)"), "lang_code: must be a string, not number '7'"},
      {with(R"("lang_code": "q")"), "lang_code: 'q' is not allowed; it is one of a, b, e, f"},
      {with(R"("volume_multiplier": "loud")"),
       "volume_multiplier: must be a number of 0..4, not string"},
      {with(R"("volume_multiplier": -0.5)"),
       "volume_multiplier: -0.5 is not allowed; it is a number of 0..4"},
      {with(R"("volume_multiplier": 1e300)"), "volume_multiplier: 1e+300 is not allowed"},
      {with(R"("stream": "yes")"), "stream: must be true or false, not string 'yes'"},
      {with(R"("stream": ")" + std::string(100, 'y') + '"'),
       "stream: must be true or false, not string '" + std::string(64, 'y') + "...'"},
      {with(R"("return_timing": 1)"), "return_timing: must be true or false, not number"},
      {with(R"("speed": "fast")"), "speed: must be a number of 0.25..4, not string 'fast'"},
      {with(R"("speed": NaN)"), "not valid JSON"},
      {with(R"("speed": 1e999)"), "a number is out of range"},
      {with(R"("response_format": "AAC")"),
       "response_format: 'AAC' is not available; mp3, opus, flac, wav and pcm are, and mp3 is "},
      {with(R"("response_format": "aac")"),
       "response_format: 'aac' is not available; mp3, opus, flac, wav and pcm are, and mp3 is "
       "played "
       "by all that plays aac"},
      {with(R"("response_format": "ogg")"),
       "response_format: 'ogg' is not available; mp3, opus, flac, wav and pcm are"},
      {with(R"("response_format": 1)"), "response_format: must be a string"},
      {with(R"("stream_format": "chunks")"),
       "stream_format: 'chunks' is not allowed; it is audio or sse"},
      {with(R"("instructions": 1)"), "instructions: must be a string"},
      {with(R"("sample_rate": -1)"), "sample_rate: -1 is not allowed"},
      {with(R"("sample_rate": 8000.5)"),
       "sample_rate: 8000.5 is not allowed; it is a whole number of 8000..48000 hertz"},
      {with(R"("sample_rate": 4294967296)"), "sample_rate: 4294967296 is not allowed"},
      {with(R"("sample_rate": "8000")"),
       "sample_rate: must be a whole number of 8000..48000 hertz, not string '8000'"},
      {with(R"("normalize_loudness": 1)"), "normalize_loudness: must be true or false"},
      {with(R"("seed": -1)"), "seed: -1 is not allowed"},
      {with(R"("timestamps": "word")"), "timestamps: must be an array of \"word\" and"},
      {with(R"("stream_format": "sse", "timestamps": ["word", "letter"])"),
       "timestamps: has 'letter'; it is an array of"},
      {with(R"("timestamps": [{}])"), "timestamps: has '{}'; it is an array of"},
      {with(R"("timestamps": ["word"])"),
       "timestamps: come as events, which needs \"stream_format\": \"sse\""}};
  for (const auto& [body, message] : cases) {
    const auto request = ParseSpeechJson(body);
    ASSERT_FALSE(request.ok()) << body.substr(0, 80);
    EXPECT_EQ(request.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(request.status().message()), HasSubstr(message)) << body.substr(0, 80);
  }
}

TEST(SpeechJsonTest, ALongValueIsCutInTheMessage) {
  const auto request = ParseSpeechJson(R"({"model": "m", "input": "x", "response_format": ")" +
                                       std::string(63, 'a') + std::string(5000, 'b') + "\"}");
  EXPECT_LT(request.status().message().size(), 200U);
}

}  // namespace
}  // namespace millrace::server
