#include "models/core/embedded_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::models {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kTable =
    "# Units and their names.\n"
    "km\tkilometer\n"
    "\tno name\n"
    "\n"
    "h\thour\tlong\n"
    "#\thash";

TEST(ReadTableTest, HasTheRowsInTheirOrderWithoutComments) {
  EXPECT_THAT(ReadTable<3>(kTable),
              ElementsAre(ElementsAre("km", "kilometer", ""), ElementsAre("", "no name", ""),
                          ElementsAre("h", "hour", "long"), ElementsAre("#", "hash", "")));
}

TEST(WordTableTest, FindsRowsInAnyOrderByTheirFirstField) {
  const WordTable<2> table(kTable);
  for (const auto& [word, name] : {std::pair<std::string_view, std::string_view>{"km", "kilometer"},
                                   {"h", "hour"},
                                   {"#", "hash"},
                                   {"", "no name"}}) {
    ASSERT_NE(table.Find(word), nullptr) << word;
    EXPECT_EQ(table.Find(word)->back(), name);
  }
  EXPECT_EQ(table.Find("k"), nullptr);
  EXPECT_EQ(table.Find("z"), nullptr);
}

TEST(ForEachWordTest, DividesAtSpacesAndLineBreaks) {
  std::vector<std::string> words;
  ForEachWord(" one  two\nthree ", [&](std::string_view word) { words.emplace_back(word); });
  EXPECT_THAT(words, ElementsAre("one", "two", "three"));
}

}  // namespace
}  // namespace millrace::models
