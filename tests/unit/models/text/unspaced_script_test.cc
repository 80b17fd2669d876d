#include "models/text/unspaced_script.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

namespace millrace::models {
namespace {

TEST(UnspacedScriptTest, LettersAndSignsOfChineseAndJapaneseHaveNoSpaces) {
  for (const char32_t c : std::u32string_view(U"你々、。「」ぁんァーﾝ！～ｱ㐀𠮷ㄅ")) {
    EXPECT_TRUE(IsUnspaced(c)) << static_cast<uint32_t>(c);
  }
  for (const char32_t c : std::u32string_view(U"aÄ1 .\u3000한ㄱกअ…—“")) {
    EXPECT_FALSE(IsUnspaced(c)) << static_cast<uint32_t>(c);
  }
}

TEST(UnspacedScriptTest, ASentenceEndsAsItsScriptDoes) {
  for (const char* text : {"你好。", "你好", "「はい。」", "他说：“好。”", "你好！", "你好!",
                           "是的……", "我用 PowerPoint 做。"})
    EXPECT_TRUE(EndsUnspaced(text)) << text;
  for (const char* text :
       {"", "Hello.", "안녕하세요.", "I went to 北京.", "“Yes.”", "2021", "...", "我用 Word"})
    EXPECT_FALSE(EndsUnspaced(text)) << text;
}

TEST(UnspacedScriptTest, TwoLettersWithoutSpacesCountAsAWord) {
  EXPECT_EQ(CountWords(""), 0u);
  EXPECT_EQ(CountWords("  one  two "), 2u);
  EXPECT_EQ(CountWords("取消"), 1u);
  EXPECT_EQ(CountWords("今天天气很好，"), 3u);
  EXPECT_EQ(CountWords("用 Word 打开"), 3u);
  EXPECT_EQ(CountWords("한국어 문장"), 2u);
}

}  // namespace
}  // namespace millrace::models
