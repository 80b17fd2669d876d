#include "server/client/speech_times.h"

#include <gtest/gtest.h>

#include <string>

#include "nlohmann/json.hpp"

namespace millrace {
namespace {

v1::SpokenSpan Span(const std::string& text, double start, double end, uint32_t sentence,
                    uint32_t character) {
  v1::SpokenSpan span;
  span.set_text(text);
  span.set_start_seconds(start);
  span.set_end_seconds(end);
  span.set_sentence_index(sentence);
  span.set_character_offset(character);
  return span;
}

TEST(SpeechTimesTest, JsonHasWordsAndPhonemes) {
  const SpeechTimes times = {{Span("\u00dcb", 0.25, 1.5, 1, 7)}, {Span("y", 0.25, 0.5, 1, 0)}};
  EXPECT_EQ(nlohmann::json::parse(TimesAsJson(times)), nlohmann::json::parse(R"({
      "words": [{"text": "\u00dcb", "start": 0.25, "end": 1.5, "sentence_index": 1,
                 "character_offset": 7}],
      "phonemes": [{"text": "y", "start": 0.25, "end": 0.5, "sentence_index": 1}]})"));
  EXPECT_EQ(nlohmann::json::parse(TimesAsJson({})),
            nlohmann::json::parse(R"({"words": [], "phonemes": []})"));
}

TEST(SpeechTimesTest, WebVttHasACueASentenceWithTheTextBetweenItsWords) {
  const std::string text = "\u00dcber <uns>,\nja & \u201cso\u201d!  Ende.";
  const SpeechTimes times = {
      {Span("\u00dcber", 0.0501, 0.5, 0, 0), Span("uns", 0.5, 1, 0, 6), Span("ja", 1, 1.5, 0, 12),
       Span("so", 1.75, 59.9996, 0, 18), Span("Ende", 3723.5, 3724, 1, 24)},
      {}};
  EXPECT_EQ(TimesAsWebVtt(times, text),
            "WEBVTT\n"
            "\n00:00:00.050 --> 00:01:00.000\n"
            "\u00dcber &lt;<00:00:00.500>uns&gt;, <00:00:01.000>ja &amp; \u201c"
            "<00:00:01.750>so\u201d!\n"
            "\n01:02:03.500 --> 01:02:04.000\n"
            "Ende.\n");
  EXPECT_EQ(TimesAsWebVtt({}, "x"), "WEBVTT\n");
}

}  // namespace
}  // namespace millrace
