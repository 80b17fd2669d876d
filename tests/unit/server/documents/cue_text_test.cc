#include "server/documents/cue_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::server {
namespace {

// A cue with another text, in which nothing is marked.
std::string Say(const std::string& cue, const std::string& text) {
  return WriteCueText(ReadCueText(cue), std::vector<CuePiece>{{CuePiece::Kind::kText, text}});
}

std::string Again(const std::string& cue) {
  const CueText read = ReadCueText(cue);
  return WriteCueText(read, read.pieces);
}

TEST(CueText, JoinsLinesAndDividesThemEvenly) {
  EXPECT_EQ(ReadCueText("One two\nthree").Visible(), "One two three");
  EXPECT_EQ(Say("One\ntwo", "aaaa bbbb cccc dddd"), "aaaa bbbb\ncccc dddd");
  EXPECT_EQ(Say("One\r\ntwo", "aaaa bbbb cccc dddd"), "aaaa bbbb\r\ncccc dddd");
  EXPECT_EQ(Say("One\ntwo\nthree", "aaaa bbbb cccc dddd eeee ffff"),
            "aaaa bbbb\ncccc dddd\neeee ffff");
  EXPECT_EQ(Say("One", "aaaa bbbb cccc dddd"), "aaaa bbbb cccc dddd");
}

TEST(CueText, NoLineBeginsWithADashThatIsNoSpeakers) {
  EXPECT_EQ(Say("One\ntwo", "aaaa bbbb - cccc dddd"), "aaaa bbbb -\ncccc dddd");
}

TEST(CueText, ASentenceEndsItsLineWhereTheLinesAreAboutAlike) {
  EXPECT_EQ(Say("One.\nTwo.", "Aaaa bbbb. Cccc dddd eeee."), "Aaaa bbbb.\nCccc dddd eeee.");
  EXPECT_EQ(Again("<b>Aaaa bbbb.</b>\nCccc dddd eeee."), "<b>Aaaa bbbb.</b>\nCccc dddd eeee.");
  EXPECT_EQ(Say("One.\nTwo.", "Aa. Bbbb cccc dddd eeee ffff."), "Aa. Bbbb cccc\ndddd eeee ffff.");
}

TEST(CueText, CountsCharactersRatherThanBytes) {
  EXPECT_EQ(Say("One\ntwo", "éééééé aaa bbb"), "éééééé\naaa bbb");
}

TEST(CueText, HasFewerLinesWhereThereAreFewerSpaces) {
  EXPECT_EQ(Say("One\ntwo", "word"), "word");
  EXPECT_EQ(Say("One\ntwo", "word  "), "word");
  EXPECT_EQ(Say("One\ntwo", "é "), "é");
  EXPECT_EQ(Say("One\ntwo\nthree", "a  b"), "a\n b");
  EXPECT_EQ(Say("One\ntwo\nthree", "two words"), "two\nwords");
  EXPECT_EQ(Say("One\ntwo", ""), "");
}

TEST(CueText, NeverHasAnEmptyLine) { EXPECT_EQ(Say("One", " a\n\nb\r\n"), "a  b"); }

TEST(CueText, RemarksAndNamedSpeakersHaveLinesOfTheirOwn) {
  for (const std::string cue :
       {"[DOOR CLOSES]\nHello.", "Hello.\n(laughs)", "JOHN: Hello.\nWOMAN 2: Bye.",
        "<i>[MUSIC]</i>\nHello.", "- Yes.\n[sighs]"}) {
    const CueText read = ReadCueText(cue);
    EXPECT_EQ(read.lines, (std::vector<size_t>{1, 1})) << cue;
    EXPECT_EQ(Again(cue), cue);
  }
  for (const std::string cue : {"It was (as you\nknow) late.", "Look at\nthis: a dog.", "One\ntwo"})
    EXPECT_EQ(ReadCueText(cue).lines, (std::vector<size_t>{2})) << cue;
}

TEST(CueText, KeepsTags) {
  for (const std::string cue :
       {"<i>All of it</i>", "{\\an8}<i>above</i>", "Some <b>bold</b> word", "<v Ann>Hello there",
        "<font color=\"#fff\">a</font> and <u>b</u>", "5 < 6 > 4", "<i>never closed", "a</b>",
        "<c.loud>a <00:01.000>b</c>", "a <i>b <b>c</i> d</b>", "{\\an8", "<b", ""})
    EXPECT_EQ(Again(cue), cue);
}

TEST(CueText, TagsAroundTheWholeTextAreNotPartOfIt) {
  const CueText cue = ReadCueText("{\\an8}<i>Some <b>bold</b> word</i>");
  EXPECT_EQ(cue.prefix, "{\\an8}<i>");
  EXPECT_EQ(cue.suffix, "</i>");
  EXPECT_EQ(cue.pieces.size(), 5);
}

TEST(CueText, EachSpeakerHasALine) {
  EXPECT_EQ(Again("- Hello.\n- Good\nmorning."), "- Hello.\n- Good\nmorning.");
  EXPECT_EQ(Again("<i>- Hello.</i>\n<i>- Bye.</i>"), "<i>- Hello.</i>\n<i>- Bye.</i>");
  EXPECT_EQ(ReadCueText("- Hello.\n- Bye.").lines.size(), 2);
}

TEST(CueText, ASentenceGoesOnBehindASmallLetter) {
  const auto goes_on = [](const std::string& from, const std::string& next) {
    return GoesOn(ReadCueText(from), ReadCueText(next));
  };
  EXPECT_TRUE(goes_on("Where is the", "<i>nearest station?</i>"));
  EXPECT_TRUE(goes_on("If you come, ", "you will see."));
  EXPECT_TRUE(goes_on("Wo ist", "über all dem"));
  EXPECT_FALSE(goes_on("It is here.", "and there."));
  EXPECT_FALSE(goes_on("Where is the", "Station?"));
  EXPECT_FALSE(goes_on("Where is the", "- nearest\n- no"));
  EXPECT_FALSE(goes_on("", "nearest"));
  EXPECT_FALSE(goes_on("Where", ""));
}

}  // namespace
}  // namespace millrace::server
