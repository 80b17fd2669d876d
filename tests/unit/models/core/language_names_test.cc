#include "models/core/language_names.h"

#include <gtest/gtest.h>

namespace millrace::models {
namespace {

TEST(LanguageNamesTest, TagsHaveTheirNamesOrTheirOwn) {
  EXPECT_EQ(LanguageName("pt"), "Portuguese");
  EXPECT_EQ(LanguageName("PT"), "Portuguese");
  EXPECT_EQ(LanguageName("zh-Hant"), "Chinese (Hant)");
  EXPECT_EQ(LanguageName("zu"), "Zulu");
  EXPECT_EQ(LanguageName("ace"), "Acehnese");
  EXPECT_EQ(LanguageName("xx"), "xx");
  EXPECT_EQ(LanguageName("xx-YY"), "xx-YY");
  EXPECT_EQ(LanguageName(""), "");
}

}  // namespace
}  // namespace millrace::models
