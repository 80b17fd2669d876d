#include "models/text/chinese/chinese_lexicon.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "unit/models/text/chinese/small_lexicon.h"

namespace millrace::models {
namespace {

TEST(ChineseLexiconTest, FindsWordsWithTheirReadings) {
  const LexiconFile file;
  auto opened = ChineseLexicon::Open(file.path());
  ASSERT_TRUE(opened.ok()) << opened.status();
  const ChineseLexicon lexicon = *std::move(opened);
  const auto bank = lexicon.Find("银行");
  ASSERT_TRUE(bank.has_value());
  EXPECT_EQ(bank->frequency, 20U);
  EXPECT_EQ(bank->pinyin, "yin2 hang2");
  EXPECT_EQ(lexicon.Find("你好")->pinyin, "");
  EXPECT_FALSE(lexicon.Find("银行家").has_value());
  EXPECT_FALSE(lexicon.Find("").has_value());
  EXPECT_TRUE(lexicon.HasPrefix("银"));
  EXPECT_FALSE(lexicon.HasPrefix("银行家"));
  EXPECT_EQ(lexicon.Phonemes("ge4"), "G4");
  EXPECT_EQ(lexicon.Phonemes("ge"), "");
  ASSERT_EQ(lexicon.states(), 4U);
  EXPECT_EQ(lexicon.PlaceOf(2), 'E');
  EXPECT_EQ(lexicon.transition(0, 2), -0.5);
  EXPECT_EQ(lexicon.transition(0, 0), ChineseLexicon::kNever);
  ASSERT_EQ(lexicon.Emissions("张").size(), 4U);
  EXPECT_EQ(lexicon.Emissions("张")[0].logarithm, -3);
  EXPECT_TRUE(lexicon.Emissions("好").empty());
}

TEST(ChineseLexiconTest, MustExist) {
  EXPECT_EQ(ChineseLexicon::Open("/no/such/lexicon").status().code(), absl::StatusCode::kNotFound);
}

TEST(ChineseLexiconTest, ADamagedLineIsNamed) {
  const std::string good = kSmallLexicon;
  const auto damaged = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    const LexiconFile file(text);
    return ChineseLexicon::Open(file.path()).status();
  };
  for (const auto& [from, to] : {std::pair{"1000", "many"},
                                 {"一\t50", "一\tx"},
                                 {"个\t10", "一\t10"},
                                 {"yi1\n", "yi1\ta\n"},
                                 {"ge4\tG4", "ge4"},
                                 {"B\t-0.3", "Q\t-0.3"},
                                 {"B\tE\t-0.5", "B\tE\t0.5"},
                                 {"伟\tB", "伟\tx"},
                                 {"[words]", "[verbs]"}}) {
    const absl::Status status = damaged(from, to);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << from;
    EXPECT_NE(status.message().find(": line "), std::string_view::npos) << status;
  }
  EXPECT_EQ(damaged("一\t50", "\xFF").code(), absl::StatusCode::kDataLoss);
  const LexiconFile empty("");
  EXPECT_EQ(ChineseLexicon::Open(empty.path()).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace millrace::models
