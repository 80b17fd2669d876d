#include "models/text/japanese/japanese_words.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string_view>

#include "fakes/temporary_folder.h"

namespace millrace::models {
namespace {

class JapaneseWordsTest : public ::testing::Test {
 protected:
  absl::StatusOr<JapaneseWords> Open(std::string_view text) {
    std::ofstream(folder_.path() / "words", std::ios::binary) << text;
    return JapaneseWords::Open(folder_.path() / "words");
  }

  millrace::testing::TemporaryFolder folder_;
};

TEST_F(JapaneseWordsTest, HasItsLinesAndNothingElse) {
  const auto words = Open("でした\nました\n学校\n");
  ASSERT_TRUE(words.ok()) << words.status();
  EXPECT_EQ(words->size(), 3U);
  EXPECT_EQ(words->longest(), 9U);
  for (const char* word : {"でした", "ました", "学校"}) EXPECT_TRUE(words->Contains(word)) << word;
  for (const char* word : {"", "です", "でしたら", "学", "校", "\n"})
    EXPECT_FALSE(words->Contains(word)) << word;
  EXPECT_FALSE(JapaneseWords().Contains("でした"));
}

TEST_F(JapaneseWordsTest, NamesTheLineThatIsOutOfOrder) {
  const auto words = Open("ました\nでした\n");
  EXPECT_EQ(words.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(words.status().message().find("line 2"), std::string_view::npos) << words.status();
  EXPECT_EQ(Open("でした\nでした\n").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Open("\n").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Open("\xFF\n").status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(JapaneseWordsTest, MustExist) {
  EXPECT_EQ(JapaneseWords::Open(folder_.path() / "none").status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace millrace::models
