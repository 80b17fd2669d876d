#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/documents/translated.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kSrt =
    "\xEF\xBB\xBF"
    "1\r\n00:00:01,000 --> 00:00:02,500 X1:40\r\nHello,\r\nAnn & <b>Bob</b>.\r\n\r\n"
    "2\r\n00:00:03,000 --> 00:00:04,000\r\n<i>Bye.</i>\r\n\r\n\r\n"
    "3\r\n00:00:05,000 --> 00:00:06,000\r\n\r\n"
    "4\r\n00:00:07,000 --> 00:00:08,000\r\n<i></i>\r\n";

constexpr std::string_view kVtt =
    "WEBVTT - A title\nKind: captions\n\nNOTE a remark\nwith 1 --> 2 in it\n\n"
    "STYLE\n::cue { color: red }\n\nintro\n00:01.000 --> 00:02.000 line:0\n"
    "<v Ann>Hello &amp; <c.loud>good</c> morning.\n\n00:03.000 --> 00:04.000\nBye.";

TEST(Subtitles, StayByteForByteButForTheirTexts) {
  EXPECT_EQ(Translated("a.srt", std::string(kSrt), Same), kSrt);
  EXPECT_EQ(Translated("a.vtt", std::string(kVtt), Same), kVtt);
}

TEST(Subtitles, AreReadAsHtml) {
  EXPECT_THAT(TextsOf("a.srt", std::string(kSrt)),
              ElementsAre("Hello, Ann &amp; <g0>Bob</g0>.", "Bye."));
  EXPECT_THAT(TextsOf("a.vtt", std::string(kVtt)),
              ElementsAre("Hello &amp; <g0>good</g0> morning.", "Bye."));
}

constexpr std::string_view kAss =
    "[Script Info]\r\nTitle: A film\r\n\r\n[V4+ Styles]\r\nFormat: Name, Fontname\r\n"
    "[Events]\r\nFormat: Layer, Start, End, Style, Text\r\n"
    "Dialogue: 0,0:00:01.00,0:00:03.00,Default,{\\i1}Hello{\\i0}, Ann,\\Nand Bob.\r\n"
    "Comment: 0,0:00:01.00,0:00:03.00,Default,a note\r\n"
    "Dialogue: 0,0:00:04.00,0:00:05.00,Default,{\\p1}m 0 0 l 100 0{\\p0}\r\n"
    "Dialogue: 0,0:00:06.00,0:00:07.00,Default,Bye.";
constexpr std::string_view kMicroDvd =
    "{1}{1}23.976\n{24}{72}{y:i}Hello, Ann,|and Bob.\n{80}{120}- Bye.|- Bye, Ann.\n";

TEST(Subtitles, MayBeLinesOfOtherKinds) {
  EXPECT_EQ(Translated("a.ass", std::string(kAss), Same), kAss);
  EXPECT_EQ(Translated("a.SSA", std::string(kAss), Same), kAss);
  EXPECT_EQ(Translated("a.sub", std::string(kMicroDvd), Same), kMicroDvd);
  EXPECT_THAT(TextsOf("a.ass", std::string(kAss)),
              ElementsAre("Hello<x0/>, Ann, and Bob.", "Bye."));
  EXPECT_THAT(TextsOf("a.sub", std::string(kMicroDvd)),
              ElementsAre("Hello, Ann, and Bob.", "- Bye.<br id=0/>- Bye, Ann."));
  EXPECT_THAT(Translated("a.ass", "[Events]\n", Same), HasSubstr("Dialogue: 0"));
  EXPECT_THAT(Translated("a.sub", "00:00:01.00,00:00:02.00\nHello.\n", Same),
              HasSubstr("{24}{72}Text"));
  EXPECT_THAT(Translated("a.ass", "Dialogue: 0,1,2", Same), HasSubstr("no subtitles"));
}

TEST(Subtitles, TagsFollowTheTranslation) {
  const std::string translated =
      Translated("a.srt", std::string(kSrt),
                 Saying("Hello, Ann &amp; <g0>Bob</g0>.", "<g0>Beto</g0> &amp; Ana, oi."));
  EXPECT_THAT(translated, HasSubstr("X1:40\r\n<b>Beto</b> &\r\nAna, oi.\r\n\r\n2\r\n"));
}

TEST(Subtitles, ASentenceOfSeveralCuesIsTranslatedAsAWhole) {
  const std::string file = "1\n0 --> 1\nWhere is <i>the\n\n2\n1 --> 2\nnearest</i> station?\n";
  // Tags that cross cues are those of one cue without its end, and of the other without its begin.
  EXPECT_THAT(TextsOf("a.srt", file), ElementsAre("Where is <x0/>the <x1/>nearest<x2/> station?"));
  EXPECT_EQ(Translated("a.srt", file, Same), file);
  EXPECT_EQ(Translated("a.srt", file,
                       [](const std::string&) { return "Onde <x0/>fica a<x2/> <x1/>estação?"; }),
            "1\n0 --> 1\nOnde <i>fica a</i>\n\n2\n1 --> 2\nestação?\n");
}

TEST(Subtitles, ASpanThatTheTranslationHasInTwoCuesIsInBoth) {
  const std::string file = "1\n0 --> 1\nWhere is <i>the</i>\n\n2\n1 --> 2\nnearest station?\n";
  EXPECT_EQ(Translated("a.srt", file,
                       [](const std::string&) { return "Onde <g0>fica <x1/>a</g0> estação?"; }),
            "1\n0 --> 1\nOnde <i>fica</i>\n\n2\n1 --> 2\n<i>a</i> estação?\n");
}

TEST(Subtitles, NoCueOfASentenceIsLeftEmpty) {
  const std::string file = "1\n0 --> 1\nWhere is the\n\n2\n1 --> 2\nnearest station?\n";
  for (const std::string html :
       {"Onde fica a estação mais perto?<x0/>", "<x0/>Onde fica a estação mais perto?",
        "Onde fica a estação mais perto?"}) {
    EXPECT_EQ(Translated("a.srt", file, [&](const std::string&) { return html; }),
              "1\n0 --> 1\nOnde fica a estação\n\n2\n1 --> 2\nmais perto?\n")
        << html;
  }
}

TEST(Subtitles, AtMostFourCuesAreTranslatedTogether) {
  std::string file;
  for (int i = 0; i < 6; ++i) file += "1\n0 --> 1\nword\n\n";
  EXPECT_THAT(TextsOf("a.srt", file),
              ElementsAre("word <x0/>word <x1/>word <x2/>word", "word <x0/>word"));
  EXPECT_EQ(Translated("a.srt", file, Same), file);
}

TEST(Subtitles, ATranslationCannotAddACue) {
  EXPECT_EQ(Translated("a.srt", "1\n0 --> 1\nHello.\n",
                       [](const std::string&) { return "Oi.\n\n2\n0 --&gt; 1\nx"; }),
            "1\n0 --> 1\nOi.  2 0 --> 1 x\n");
}

TEST(Subtitles, ErrorsSayWhatIsMissing) {
  EXPECT_THAT(Translated("a.srt", "Hello.", Same), HasSubstr("file: has no subtitles"));
  EXPECT_THAT(Translated("a.vtt", "1\n0 --> 1\nHello.\n", Same), HasSubstr("WEBVTT"));
  EXPECT_THAT(Translated("a.vtt", "WEBVTT\n\nNOTE 0 --> 1\nHello.\n", Same),
              HasSubstr("no subtitles"));
  EXPECT_THAT(Translated("a.vtt", "WEBVTT\n\n0 --> 1\n\xFF\n", Same), HasSubstr("UTF-8"));
}

TEST(Subtitles, TextBehindAnEmptyLineBelongsToTheCue) {
  const std::string file = "1\n0 --> 1\nThe house.\n\nIt is big.\n\n2\n1 --> 2\nBye.\n";
  EXPECT_THAT(TextsOf("a.srt", file), ElementsAre("The house.", "It is big.", "Bye."));
  EXPECT_EQ(Translated("a.srt", file, Same), file);
}

TEST(Subtitles, ACueEndsWhereTheNextOneBeginsWithoutABlankLine) {
  const std::string srt = "1\n0:1 --> 0:2\nThe house.\n2\n0:3 --> 0:4\nOne --> two.\n";
  EXPECT_THAT(TextsOf("a.srt", srt), ElementsAre("The house.", "One --&gt; two."));
  EXPECT_EQ(Translated("a.srt", srt, Same), srt);
  const std::string vtt = "WEBVTT\n\n0:1 --> 0:2\nThe house.\n12\n0:3 --> 0:4\nBye.\n";
  EXPECT_THAT(TextsOf("a.vtt", vtt), ElementsAre("The house. 12", "Bye."));
  EXPECT_EQ(Translated("a.vtt", vtt, Same), vtt);
}

TEST(Subtitles, AnnotationsOfRubyTextStay) {
  const std::string file =
      "WEBVTT\n\n0:01.000 --> 0:02.000\nA <ruby>base<rt>text</rt></ruby> is it.\n";
  EXPECT_THAT(TextsOf("a.vtt", file), ElementsAre("A <g0>base<x1/></g0> is it."));
  EXPECT_EQ(Translated("a.vtt", file, Same), file);
}

TEST(Subtitles, InOldEncodingsBecomeUtf8) {
  EXPECT_EQ(Translated("a.srt", "1\n0 --> 1\nCaf\xE9 \x96 \x80.\n", Same),
            "1\n0 --> 1\nCaf\u00E9 \u2013 \u20AC.\n");
  const std::string file = "1\n0 --> 1\nA.\n";
  std::string wide = "\xFF\xFE";
  for (const char c : file) (wide += c) += '\0';
  EXPECT_EQ(Translated("a.srt", wide, Same), "\xEF\xBB\xBF" + file);
}

}  // namespace
}  // namespace millrace::server
