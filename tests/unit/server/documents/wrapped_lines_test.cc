#include "server/documents/wrapped_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/documents/translated.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;

TEST(WrappedLines, JoinsWhatGoesOnInASmallLetter) {
  const auto joined = [](std::string_view text) { return JoinWrappedLines(text).text; };
  EXPECT_EQ(joined("The old\nhouse, \nthe\r\ngarden,\nand\n"),
            "The old house, \nthe garden, and\n");
  EXPECT_EQ(joined("One.\ntwo\n\nthree"), "One.\ntwo\n\nthree");
  EXPECT_EQ(joined("a\n  b\n- c\n1\nd"), "a\n  b\n- c\n1\nd");
  EXPECT_EQ(joined("Title\nText"), "Title\nText");
  for (const std::string table : {"red    house\nblue   car", "red\thouse\nblue\tcar",
                                  "red house\nblue   car", "red\thouse\nand more"})
    EXPECT_EQ(joined(table), table);
  EXPECT_EQ(joined("\n\n"), "\n\n");
  EXPECT_EQ(joined(""), "");
}

TEST(WrappedLines, BreaksATranslationAtTheSameWidth) {
  const WrappedLines source = JoinWrappedLines("One.\n  The old\nhouse\nis\n\nTwo");
  EXPECT_THAT(source.widths, ElementsAre(0, 9, 0, 0));
  EXPECT_EQ(WrapLines(source, "Um só é aqui.\n  É uma casa antiga\n\nDois"),
            "Um só é aqui.\n  É uma\ncasa\nantiga\n\nDois");
  EXPECT_EQ(WrapLines(source, "1\nincomprehensible word\n\n2"), "1\nincomprehensible\nword\n\n2");
  EXPECT_EQ(WrapLines(source, "1\néééé éééé\n\n2"), "1\néééé éééé\n\n2");
}

TEST(WrappedLines, BreaksChineseAndJapaneseBetweenCharactersOfTwoColumns) {
  const WrappedLines source = JoinWrappedLines("The old\nhouse");  // 7 columns
  EXPECT_EQ(WrapLines(source, "这座老房子很好"), "这座老\n房子很\n好");
  EXPECT_EQ(WrapLines(source, "这座老，房子。"), "这座\n老，房\n子。");
  EXPECT_EQ(WrapLines(source, "这座「老」房子"), "这座\n「老」\n房子");
  EXPECT_EQ(WrapLines(source, "用Word打开"), "用Word\n打开");
}

TEST(WrappedLines, LeavesATranslationWithOtherLinesAlone) {
  const WrappedLines source = JoinWrappedLines("The old\nhouse");
  EXPECT_EQ(WrapLines(source, "A casa\nantiga e mais"), "A casa\nantiga e mais");
}

TEST(WrappedLines, ArePartOfAPlainText) {
  const std::string file = "The old\r\nhouse is here.\r\n\r\nTwo.\r\n";
  EXPECT_THAT(TextsOf("a.txt", file), ElementsAre("The old house is here.\r\n\r\nTwo.\r\n"));
  EXPECT_EQ(Translated("a.txt", file, Same), "The old house\r\nis here.\r\n\r\nTwo.\r\n");
  EXPECT_EQ(Translated("a.txt", "The old\r\nhouse", Same), "The old\r\nhouse");
}

TEST(WrappedLines, TakeTimeInProportion) {
  std::string file = "a";
  for (int i = 0; i < 49'000; ++i) file += "\na";
  EXPECT_EQ(Translated("a.txt", file, Same), file);
}

}  // namespace
}  // namespace millrace::server
