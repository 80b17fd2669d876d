#include "models/text/japanese/counters.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "models/text/unicode.h"

namespace millrace::models {
namespace {

std::string Utf8Of(std::u32string_view text) {
  std::string utf8;
  for (const char32_t c : text) utf8 += EncodeUtf8(c);
  return utf8;
}

struct Count {
  uint64_t value;
  const char32_t* counter;
  const char* pronunciation;
  const char32_t* before = U"";
};
void PrintTo(const Count& count, std::ostream* out) {
  *out << count.value << Utf8Of(count.counter);
}

class CountedNumberTest : public testing::TestWithParam<Count> {};
TEST_P(CountedNumberTest, IsPronouncedWithItsCounter) {
  const Count& count = GetParam();
  EXPECT_EQ(Utf8Of(CountedNumber(count.value, count.counter, count.before)), count.pronunciation);
}

INSTANTIATE_TEST_SUITE_P(
    Counters, CountedNumberTest,
    testing::Values(
        Count{1, U"本", "イッポン"}, Count{2, U"本", "ニ ホン"}, Count{3, U"本", "サン ボン"},
        Count{6, U"本", "ロッポン"}, Count{8, U"本", "ハッポン"}, Count{10, U"本", "ジュッポン"},
        Count{100, U"本", "ヒャッポン"}, Count{3, U"匹", "サン ビキ"}, Count{3, U"杯", "サン バイ"},
        Count{3, U"分", "サン プン"}, Count{4, U"分", "ヨン プン"}, Count{4, U"本", "ヨン ホン"},
        Count{5, U"分", "ゴ フン"}, Count{3, U"階", "サン ガイ"}, Count{3, U"回", "サン カイ"},
        Count{1, U"回", "イッカイ"}, Count{6, U"回", "ロッカイ"}, Count{8, U"歳", "ハッサイ"},
        Count{6, U"歳", "ロク サイ"}, Count{20, U"歳", "ハタチ"}, Count{3, U"足", "サン ゾク"},
        Count{1, U"ヶ月", "イッカゲツ"}, Count{3, U"泊", "サン パク"}, Count{4, U"泊", "ヨン パク"},
        Count{1, U"戸", "イッコ"}, Count{1, U"局", "イッキョク"}, Count{8, U"席", "ハッセキ"},
        Count{10, U"戦", "ジュッセン"}, Count{3, U"俵", "サン ビョー"},
        Count{1, U"編成", "イチ ヘンセー"}, Count{2, U"粒", "フタツブ"},
        Count{5, U"分", "ゴ ブ", U"3割"}, Count{100, U"パーセント", "ヒャク パーセント"},
        Count{10, U"ページ", "ジュッページ"}, Count{0, U"度", "レード"}));

INSTANTIATE_TEST_SUITE_P(Numerals, CountedNumberTest,
                         testing::Values(Count{4, U"月", "シガツ"}, Count{7, U"月", "シチガツ"},
                                         Count{9, U"月", "クガツ"}, Count{4, U"時", "ヨジ"},
                                         Count{7, U"時", "シチジ"}, Count{9, U"時", "クジ"},
                                         Count{0, U"時", "レージ"}, Count{4, U"年", "ヨネン"},
                                         Count{4, U"円", "ヨエン"}, Count{1, U"人", "ヒトリ"},
                                         Count{2, U"人", "フタリ"}, Count{3, U"人", "サン ニン"},
                                         Count{4, U"人", "ヨニン"}, Count{1, U"つ", "ヒトツ"},
                                         Count{9, U"つ", "ココノツ"}));

INSTANTIATE_TEST_SUITE_P(
    Days, CountedNumberTest,
    testing::Values(Count{1, U"日", "イチニチ"}, Count{1, U"日", "ツイタチ", U"5月"},
                    Count{2, U"日", "フツカ"}, Count{8, U"日", "ヨーカ"},
                    Count{10, U"日", "トーカ"}, Count{14, U"日", "ジューヨッカ"},
                    Count{20, U"日", "ハツカ"}, Count{24, U"日", "ニジューヨッカ"},
                    Count{17, U"日", "ジューシチニチ"}, Count{31, U"日", "サンジューイチ ニチ"},
                    Count{2, U"日間", "フツカカン"}));

INSTANTIATE_TEST_SUITE_P(
    Large, CountedNumberTest,
    testing::Values(
        Count{0, U"", "ゼロ"}, Count{300, U"", "サンビャク"}, Count{600, U"", "ロッピャク"},
        Count{800, U"", "ハッピャク"}, Count{1000, U"", "セン"}, Count{3000, U"", "サンゼン"},
        Count{8000, U"", "ハッセン"}, Count{1234, U"", "セン ニヒャク サンジューヨン"},
        Count{2005, U"", "ニセン ゴ"}, Count{10'000, U"", "イチマン"},
        Count{10'000'000, U"", "イッセンマン"}, Count{1'000'000'000'000, U"", "イッチョー"},
        Count{123'450'000, U"", "イチオク ニセン サンビャク ヨンジューゴマン"},
        Count{9'999'999'999'999'999, U"",
              "キューセン キューヒャク キュージューキューチョー キューセン キューヒャク "
              "キュージューキューオク キューセン キューヒャク キュージューキューマン "
              "キューセン キューヒャク キュージューキュー"}));

INSTANTIATE_TEST_SUITE_P(
    Kana, CountedNumberTest,
    testing::Values(Count{9, U"にち", "クニチ"}, Count{1, U"にち", "ツイタチ", U"5月"},
                    Count{4, U"にん", "ヨニン"}, Count{2, U"にん", "フタリ"},
                    Count{7, U"じ", "シチジ"}, Count{10, U"ぷん", "ジュップン"},
                    Count{3, U"ぼん", "サン ボン"}, Count{6, U"ぽん", "ロッポン"},
                    Count{8, U"こ", "ハッコ"}, Count{3, U"がい", "サン ガイ"}));

TEST(KanjiNumberTest, HasTheUnits) {
  EXPECT_EQ(Utf8Of(KanjiNumber(0)), "零");
  EXPECT_EQ(Utf8Of(KanjiNumber(10)), "十");
  EXPECT_EQ(Utf8Of(KanjiNumber(1234)), "千二百三十四");
  EXPECT_EQ(Utf8Of(KanjiNumber(20'000'005)), "二千万五");
}

TEST(CounterLengthTest, AWordMayBeginAsACounterInHiraganaDoes) {
  EXPECT_EQ(CounterLength(U"にちです"), 2u);
  EXPECT_EQ(CounterLength(U"こください"), 1u);
  EXPECT_EQ(CounterLength(U"こうえん"), 0u);
  EXPECT_EQ(CounterLength(U"にんじん"), 0u);
}

TEST(CounterLengthTest, IsThatOfTheLongestCounter) {
  EXPECT_EQ(CounterLength(U"年間の"), 2U);
  EXPECT_EQ(CounterLength(U"年の"), 1U);
  EXPECT_EQ(CounterLength(U"猫"), 0U);
  EXPECT_EQ(CounterLength(U""), 0U);
}

}  // namespace
}  // namespace millrace::models
