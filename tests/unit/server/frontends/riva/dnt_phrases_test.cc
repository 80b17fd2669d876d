#include "server/frontends/riva/dnt_phrases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Entry = models::GlossaryEntry;

class DntPhrasesTest : public ::testing::Test {
 protected:
  absl::Status Take(std::string_view phrases) {
    return TakeDntPhrases("dnt_phrases[0]", phrases, glossary_, kept_);
  }

  std::vector<Entry> glossary_;
  std::vector<std::string> kept_;
};

TEST_F(DntPhrasesTest, OneElementHoldsAllPairsOfAClient) {
  ASSERT_TRUE(Take("cat##gato,Millrace##,river mill").ok());
  EXPECT_THAT(glossary_, ElementsAre(Entry{"cat", "gato"}));
  EXPECT_THAT(kept_, ElementsAre("Millrace", "river mill"));
}

TEST_F(DntPhrasesTest, WhiteSpaceAndEmptyPhrasesAreDropped) {
  ASSERT_TRUE(Take(" , cat ## o gato ,, C#").ok());
  EXPECT_THAT(glossary_, ElementsAre(Entry{"cat", "o gato"}));
  EXPECT_THAT(kept_, ElementsAre("C#"));
}

TEST_F(DntPhrasesTest, ATranslationMayHoldTheSeparator) {
  ASSERT_TRUE(Take("a##b##c").ok());
  EXPECT_THAT(glossary_, ElementsAre(Entry{"a", "b##c"}));
}

TEST_F(DntPhrasesTest, APhraseWithoutATermIsNamed) {
  const absl::Status status = Take("a##b,##c");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(status.message()), "dnt_phrases[0]: '##c' has no term before ##");
}

TEST_F(DntPhrasesTest, ThereAreNotTooMany) {
  std::string phrases;
  for (int i = 0; i < 2000; ++i) phrases += "a,";
  EXPECT_TRUE(Take(phrases).ok());
  const absl::Status status = Take("b");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("more than 2000 phrases"));
}

}  // namespace
}  // namespace millrace::server
