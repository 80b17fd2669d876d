#include "server/requests/translation_terms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::server {
namespace {

using ::testing::HasSubstr;
using Glossary = std::vector<models::GlossaryEntry>;

TEST(TranslationTermsTest, EntriesThatComeTwiceCountOnce) {
  Glossary glossary = {{"bank", "banco"}, {"river", "rio"}, {"bank", "banco"}};
  ASSERT_TRUE(CheckTerms(glossary, {"Millrace"}).ok());
  EXPECT_EQ(glossary, (Glossary{{"bank", "banco"}, {"river", "rio"}}));
}

TEST(TranslationTermsTest, LimitsThemselvesAreAllowed) {
  std::string longest;
  for (int i = 0; i < 200; ++i) longest += "\xC3\xA9";  // characters, not bytes
  Glossary glossary(1000, {longest, longest});
  EXPECT_TRUE(CheckTerms(glossary, std::vector<std::string>(1000, "x")).ok());
}

TEST(TranslationTermsTest, BadTermsAreNamed) {
  struct Case {
    Glossary glossary;
    std::vector<std::string> kept;
    std::string message;
  };
  const std::vector<Case> cases = {
      {{{"bank", "banco"}, {"bank", "margem"}},
       {},
       "glossary[1]: 'bank' is 'margem' here and 'banco' in glossary[0]; a term has one"},
      {{{"a", "b"}}, {"x", "a"}, "do_not_translate[1]: 'a' is translated by glossary[0]"},
      {{{"a", "b"}, {"", "b"}}, {}, "glossary[1].source: is empty"},
      {{{"a", ""}}, {}, "glossary[0].target: is empty"},
      {{}, {""}, "do_not_translate[0]: is empty"},
      {{{std::string("a\0", 2), "b"}}, {}, "glossary[0].source: has a NUL at byte 1"},
      {{{"a", std::string(201, 'x')}},
       {},
       "glossary[0].target: has 201 characters; at most 200 are allowed"},
      {{}, {std::string(201, 'x')}, "do_not_translate[0]: has 201 characters; at most 200"},
      {Glossary(1001, {"a", "b"}), {}, "glossary: has 1001 entries; at most 1000 are allowed"},
      {{}, std::vector<std::string>(1001, "x"), "do_not_translate: has 1001 entries"}};
  for (const Case& bad : cases) {
    Glossary glossary = bad.glossary;
    const absl::Status status = CheckTerms(glossary, bad.kept);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(bad.message));
  }
}

}  // namespace
}  // namespace millrace::server
