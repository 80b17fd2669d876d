#include "models/text/foreign_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::models {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ForeignScriptTest, WordsInOtherLettersAreFoundInTheirOrder) {
  const ForeignScripts found = FindForeignScripts("Say Привет, then 你好 and Γειά σου.", "en-US");
  EXPECT_THAT(found.names, ElementsAre("Cyrillic text", "Chinese characters", "Greek text"));
  EXPECT_FALSE(found.all);
  EXPECT_THAT(FindForeignScripts("Naïve façade, 5 µm", "en").names, IsEmpty());
}

TEST(ForeignScriptTest, ATextOfNothingElseIsTold) {
  for (const char* text : {"Привет!", "Γειά σου", "Καλημέρα", "ἀρχή", "你好"})
    EXPECT_TRUE(FindForeignScripts(text, "en").all) << text;
  EXPECT_FALSE(FindForeignScripts("Καλημέρα 5", "en").all);
}

TEST(ForeignScriptTest, GreekLettersOfFormulasAreRead) {
  for (const char* text : {"α", "αβγ", "sin θ + λ", "Δx = 2π", "µ and Ω"})
    EXPECT_THAT(FindForeignScripts(text, "en").names, IsEmpty()) << text;
}

TEST(ForeignScriptTest, ALanguageOfOtherLettersHasNone) {
  EXPECT_THAT(FindForeignScripts("Καλημέρα", "el").names, IsEmpty());
  EXPECT_THAT(FindForeignScripts("你好 hello", "zh").names, IsEmpty());
}

}  // namespace
}  // namespace millrace::models
