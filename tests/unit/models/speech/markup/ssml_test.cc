#include "models/speech/markup/ssml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "models/text/unicode.h"
#include "tests/unit/models/speech/markup/markup_fixture.h"

namespace millrace::speech {
namespace {

MarkedText ParsedDocument(const std::string& document, bool has_voice = false) {
  const models::SpeechInfo info = TwoLanguages();
  auto marked = ParseSsml(
      document,
      {.info = info, .model = "m", .language = "", .voice = "joe", .has_voice = has_voice});
  EXPECT_TRUE(marked.ok()) << marked.status();
  return marked.ok() ? *std::move(marked) : MarkedText();
}

// The parts of what is within <speak>.
std::string SsmlParts(const std::string& content) {
  return Shown(ParsedDocument("<speak>" + content + "</speak>"));
}

// Returns the number of characters of the document before a word of the text.
size_t CharacterOf(const MarkedText& marked, const std::string& word) {
  const size_t byte = marked.text.find(word);
  size_t found = 0;
  for (const models::SpeechAnchor& anchor : marked.markup.anchors) {
    if (anchor.byte > byte) break;
    found = anchor.character +
            models::CountCodePoints(marked.text.substr(anchor.byte, byte - anchor.byte));
  }
  return found;
}

TEST(SsmlTest, PlainTextIsOnePartWithSingleSpaces) {
  EXPECT_EQ(SsmlParts("  Hello,\n\n  world &amp; &#233; "), "{|Hello, world & é}");
  EXPECT_EQ(SsmlParts("<!-- no --><![CDATA[a < b]]>"), "{|a < b}");
}

TEST(SsmlTest, BreaksAreSilenceOfTheirTime) {
  EXPECT_EQ(SsmlParts("a<break time='1.5s'/>b<break time=\"250ms\"/>"), "{|a}{1.5s|b}0.25s");
  EXPECT_EQ(SsmlParts("<break time='1s'/>a <break/> <break strength='weak'/> b"), "{1s|a}{0.6s|b}");
  EXPECT_EQ(SsmlParts("a<break strength='none'/>b<break strength='weak' time='2s'/>c"),
            "{|a}{0s|b}{2s|c}");
  EXPECT_EQ(SsmlParts("<break time='1s'/>"), "{|}1s");
}

TEST(SsmlTest, ParagraphsAndSentencesAreBreaks) {
  EXPECT_EQ(SsmlParts("<p><s>a</s><s>b</s></p><p>c</p> d"),
            "{paragraph|a}{sentence|b}{paragraph|c}{paragraph|d}");
  EXPECT_EQ(SsmlParts("a<p>b</p><break time='2s'/>c"), "{|a}{paragraph|b}{2s paragraph|c}");
}

TEST(SsmlTest, ProsodyMultipliesTheRateAndAddsToTheVolume) {
  EXPECT_EQ(SsmlParts("<prosody rate='fast'>a</prosody> b"), "{x1.25|a}{|b}");
  EXPECT_EQ(SsmlParts("<prosody rate='50%'>a<prosody rate='+50%'>b</prosody></prosody>"),
            "{x0.5|a}{x0.75|b}");
  EXPECT_EQ(SsmlParts("<prosody rate='2'>a<prosody rate='-50%'>b</prosody>c</prosody>"),
            "{x2|a}{|b}{x2|c}");
  EXPECT_EQ(SsmlParts("<prosody volume='-6dB'>a<prosody volume='+3dB'>b</prosody></prosody>"),
            "{-6dB|a}{-3dB|b}");
  EXPECT_EQ(SsmlParts("<prosody volume='silent'>a</prosody><prosody volume='x-loud'>b</prosody>"),
            "{-infdB|a}{6dB|b}");
}

TEST(SsmlTest, AFragmentNeedsNoRoot) {
  const models::SpeechInfo info = TwoLanguages();
  const MarkupContext context = {.info = info, .model = "m", .language = "", .voice = "joe"};
  const auto parse = [&](const std::string& fragment) {
    auto marked = ParseSsmlFragment(fragment, context);
    EXPECT_TRUE(marked.ok()) << marked.status();
    return marked.ok() ? *std::move(marked) : MarkedText();
  };
  EXPECT_EQ(Shown(parse("a <break time='1s'/>b")), "{|a}{1s|b}");
  EXPECT_EQ(Shown(parse("<speak xml:lang='fr'>a</speak> b")), "{luc fr-FR|a}{|b}");
  EXPECT_EQ(parse("<s>a</s>").break_after, models::SpeechBreak::kSentence);
  EXPECT_EQ(parse("<s>a</s>b").break_after, models::SpeechBreak::kNone);
  const MarkedText marked = parse("é <voice name='ann'>word</voice>");
  EXPECT_EQ(CharacterOf(marked, "word"), 20U);
}

TEST(SsmlTest, AliasesNameVoices) {
  const models::SpeechInfo info = TwoLanguages();
  MarkupContext context = {.info = info, .model = "m", .language = "", .voice = "joe"};
  context.voice_named = [](const std::string& name, std::string_view language) {
    return name != "nova" ? name : language == "fr-FR" ? "luc" : "ann";
  };
  const auto marked = ParseSsml(
      "<speak><voice name='nova'>a</voice><voice name='joe'>b</voice>"
      "<lang xml:lang='fr'><voice name='nova'>c</voice></lang></speak>",
      context);
  ASSERT_TRUE(marked.ok()) << marked.status();
  EXPECT_EQ(Shown(*marked), "{ann|a}{joe|b}{luc fr-FR|c}");
}

TEST(SsmlTest, VoicesAndLanguages) {
  EXPECT_EQ(SsmlParts("a<voice name='ann'>b<voice name='luc'>c</voice>d</voice>e"),
            "{|a}{ann|b}{luc|c}{ann|d}{|e}");
  EXPECT_EQ(SsmlParts("a <lang xml:lang='fr'>b</lang> c"), "{|a}{luc fr-FR|b}{|c}");
  // A voice of the language stays.
  EXPECT_EQ(SsmlParts("<voice name='ann'><lang xml:lang='en'>b</lang></voice>"), "{ann en-US|b}");
  EXPECT_EQ(SsmlParts("<lang xml:lang='en-US'>b</lang>"), "{en-US|b}");
  EXPECT_EQ(Shown(ParsedDocument("<speak xml:lang='fr'>a</speak>")), "{luc fr-FR|a}");
  EXPECT_EQ(Shown(ParsedDocument("<speak xml:lang='fr'>a</speak>", /*has_voice=*/true)),
            "{fr-FR|a}");
}

TEST(SsmlTest, TheFullFormOfARoot) {
  EXPECT_EQ(
      Shown(ParsedDocument("\xEF\xBB\xBF<?xml version='1.0' encoding='UTF-8'?>\n"
                           "<speak version=\"1.1\" xmlns=\"http://www.w3.org/2001/10/synthesis\"\n"
                           " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"\n"
                           " xsi:schemaLocation=\"a b\" xml:lang=\"en-US\">a</speak>")),
      "{en-US|a}");
}

TEST(SsmlTest, ReadingsStandForWhatIsWritten) {
  const std::string document =
      "<speak>The <sub alias=\"World Wide Web Consortium\"> W3C\n</sub> says "
      "<phoneme alphabet='ipa' ph='təˈmɑːtoʊ'>tomato</phoneme>.</speak>";
  const MarkedText marked = ParsedDocument(document);
  EXPECT_EQ(marked.text, "The World Wide Web Consortium says tomato.");
  ASSERT_EQ(marked.markup.parts.size(), 1U);
  ASSERT_EQ(marked.markup.readings.size(), 2U);
  const models::SpeechReading& sub = marked.markup.readings[0];
  EXPECT_EQ(marked.text.substr(sub.begin, sub.end - sub.begin), "World Wide Web Consortium");
  EXPECT_EQ(sub.written, "W3C");
  EXPECT_EQ(sub.phonemes, "");
  const models::SpeechReading& phoneme = marked.markup.readings[1];
  EXPECT_EQ(phoneme.written, "tomato");
  EXPECT_EQ(phoneme.phonemes, "təˈmɑːtoʊ");
  EXPECT_TRUE(phoneme.is_ipa);
  EXPECT_EQ(phoneme.place, "line 2, column 13");
}

TEST(SsmlTest, AnchorsSayWhereInTheDocumentEachWordIs) {
  const std::string document = "<speak>é&amp;b  cc<break/>\n<sub alias='dd'>e</sub> f</speak>";
  const MarkedText marked = ParsedDocument(document);
  EXPECT_EQ(marked.text, "é&b ccdd f");
  EXPECT_EQ(CharacterOf(marked, "é"), 7U);
  EXPECT_EQ(CharacterOf(marked, "&"), 8U);
  EXPECT_EQ(CharacterOf(marked, "b"), 13U);
  EXPECT_EQ(CharacterOf(marked, "cc"), 16U);
  EXPECT_EQ(CharacterOf(marked, "dd"), 43U);
  EXPECT_EQ(CharacterOf(marked, "f"), 51U);
}

TEST(SsmlTest, AReadingOfAnotherLengthDoesNotMoveWhatFollows) {
  // The alias has as many bytes as what it replaces, with the end of its element.
  const MarkedText marked = ParsedDocument("<speak><sub alias='dddddddd'>é</sub>f</speak>");
  EXPECT_EQ(CharacterOf(marked, "d"), 29U);
  EXPECT_EQ(CharacterOf(marked, "f"), 36U);
}

TEST(SsmlTest, SayAsIsSpokenInWords) {
  const MarkedText marked = ParsedDocument(
      "<speak>the <say-as interpret-as='ordinal'>3</say-as> of "
      "<say-as interpret-as='date' format='mdy'>5/6/2026</say-as></speak>");
  EXPECT_EQ(marked.text, "the third of May 6, 2026");
  EXPECT_EQ(marked.markup.readings[1].written, "5/6/2026");
}

}  // namespace
}  // namespace millrace::speech
