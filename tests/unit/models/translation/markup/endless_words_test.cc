#include "models/translation/markup/endless_words.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::translation {
namespace {

TEST(EndlessWordsTest, AreKeptUpToTheMarksInThem) {
  MarkedText marked{.text = "One " + std::string(600, 'a') + " two",
                    .events = {{304, MarkEvent::Kind::kAlone, "<br>"}}};
  KeepEndlessWords(marked);
  ASSERT_EQ(marked.kept.size(), 2u);
  EXPECT_EQ(marked.kept[0].begin, 4u);
  EXPECT_EQ(marked.kept[0].end, 304u);
  EXPECT_EQ(marked.kept[1].begin, 304u);
  EXPECT_EQ(marked.kept[1].end, 604u);
  EXPECT_EQ(marked.kept[1].becomes, std::string(300, 'a'));
}

TEST(EndlessWordsTest, AreKeptAroundWhatIsKeptAlready) {
  MarkedText marked{.text = std::string(600, 'a'), .kept = {{100, 200, "name"}}};
  KeepEndlessWords(marked);
  ASSERT_EQ(marked.kept.size(), 3u);
  EXPECT_EQ(marked.kept[0].end, 100u);
  EXPECT_EQ(marked.kept[1].becomes, "name");
  EXPECT_EQ(marked.kept[2].begin, 200u);
}

TEST(EndlessWordsTest, AreNeitherShortNorOfAScriptWithoutSpaces) {
  std::string japanese;
  for (int i = 0; i < 600; ++i) japanese += "語";
  std::string longest;
  for (int i = 0; i < 256; ++i) longest += "ab";
  for (const std::string& text : {longest, japanese}) {
    MarkedText marked{.text = text};
    KeepEndlessWords(marked);
    EXPECT_TRUE(marked.kept.empty()) << text;
  }
}

TEST(EndlessWordsTest, MayBeShortIfTheyAreDrawnOut) {
  MarkedText marked{.text = "Nãããão, hmmmm or 000000 and aaa!"};
  KeepEndlessWords(marked);
  ASSERT_EQ(marked.kept.size(), 2u);
  EXPECT_EQ(marked.kept[0].becomes, "Nãããão");
  EXPECT_EQ(marked.kept[1].becomes, "hmmmm");
}

TEST(EndlessWordsTest, SeveralInASpanOfTheReaderStayInIt) {
  MarkedText marked{.text = "<f a='MMMM MMMM'> b", .kept = {{0, 17, "<f a='MMMM MMMM'>"}}};
  KeepEndlessWords(marked);
  EXPECT_EQ(Untouched(marked), "<f a='MMMM MMMM'> b");
  EXPECT_EQ(marked.kept.size(), 1u);
}

}  // namespace
}  // namespace millrace::translation
