#include "models/translation/text_rules.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace millrace::translation {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string ErrorOf(const std::string& rules) {
  return std::string(TextRules::Read(json::parse(rules)).status().message());
}

TEST(TextRulesTest, AreAppliedOneAfterAnotherAndKeepPlaces) {
  const auto rules =
      TextRules::Read(json::parse(R"=([["([ab])x", "\\1-\\1"], ["-", "&#45;"], ["^c ?", ""]])="));
  ASSERT_TRUE(rules.ok()) << rules.status();
  const PlacedText placed = rules->Apply("c axé");
  EXPECT_EQ(placed.text, "a&#45;aé");
  EXPECT_EQ(placed.places, (std::vector<uint32_t>{2, 2, 2, 2, 2, 2, 2, 4, 5}));
  EXPECT_EQ(rules->Apply("c ").text, "");
  EXPECT_EQ(rules->Apply("").text, "");
}

TEST(TextRulesTest, APatternThatMatchesNothingEnds) {
  const auto rules =
      TextRules::Read(json::parse(R"=([["x*", "y"], ["(b)|c", "<\\1>"], ["$", "!"]])="));
  ASSERT_TRUE(rules.ok()) << rules.status();
  EXPECT_EQ(rules->Apply("abc").text, "a<b><>");
}

TEST(TextRulesTest, RulesThatMakeATextLongerAndLongerEnd) {
  json doubling = json::array();
  for (int i = 0; i < 60; ++i) doubling.push_back({"(a)", "\\1\\1"});
  const auto rules = TextRules::Read(doubling);
  ASSERT_TRUE(rules.ok()) << rules.status();
  EXPECT_EQ(rules->Apply("aa").text.size(), 256U);
}

TEST(TextRulesTest, DamagedRulesAreNamed) {
  EXPECT_THAT(ErrorOf(R"("x")"), HasSubstr("a list of at most 512"));
  EXPECT_THAT(ErrorOf(json(513, 0).dump()), HasSubstr("a list of at most 512"));
  EXPECT_THAT(ErrorOf(R"=([["a"]])="), HasSubstr("a pattern and a replacement"));
  EXPECT_THAT(ErrorOf(R"=([["a", 1]])="), HasSubstr("a pattern and a replacement"));
  EXPECT_THAT(ErrorOf(R"=([["(a", "b"]])="), HasSubstr("the rule '(a' is damaged: "));
  EXPECT_THAT(ErrorOf(R"=([["(a)", "\\2"]])="), HasSubstr("the rule '(a)' is damaged: "));
  EXPECT_THAT(ErrorOf(R"=([["(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)", "b"]])="), HasSubstr("is damaged"));
}

}  // namespace
}  // namespace millrace::translation
