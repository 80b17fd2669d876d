#include "models/core/language_tag.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::models {
namespace {

using List = std::vector<std::string>;

TEST(LanguageTagTest, HasOneForm) {
  for (const auto& [tag, form] :
       std::vector<std::pair<const char*, const char*>>{{"EN", "en"},
                                                        {"pt_br", "pt-BR"},
                                                        {"pb", "pt-BR"},
                                                        {"zh-hant-tw", "zh-Hant-TW"},
                                                        {"zt", "zh-Hant"},
                                                        {"iw", "he"},
                                                        {"en-x-us", "en-x-us"},
                                                        {"es-419", "es-419"},
                                                        {"", ""}})
    EXPECT_EQ(CanonicalLanguage(tag), form);
}

TEST(LanguageTagTest, IsFoundInAnyCaseAndWithEitherSeparator) {
  const List languages = {"en", "pt-BR", "fr"};
  for (const char* tag : {"pt-BR", "PT-br", "pt_BR", "pb", "PB"})
    EXPECT_EQ(LookUpLanguage(languages, tag), "pt-BR") << tag;
  EXPECT_EQ(LookUpLanguage({"PT_br"}, "pt-BR"), "PT_br");
}

TEST(LanguageTagTest, FallsBackToWhatIsLessSpecial) {
  const List languages = {"en", "zh-Hant", "fr"};
  EXPECT_EQ(LookUpLanguage(languages, "en-US"), "en");
  EXPECT_EQ(LookUpLanguage(languages, "fr-Latn-CA-x-home"), "fr");
  EXPECT_EQ(LookUpLanguage(languages, "zh-Hant-HK"), "zh-Hant");
  EXPECT_EQ(LookUpLanguage({"fr", "fr-CA"}, "fr-CA-x-home"), "fr-CA");
}

TEST(LanguageTagTest, FallsBackToWhatIsMoreSpecial) {
  EXPECT_EQ(LookUpLanguage({"en", "pt-BR"}, "pt"), "pt-BR");
  EXPECT_EQ(LookUpLanguage({"pt-BR", "pt"}, "pt"), "pt");
  EXPECT_EQ(LookUpLanguage({"en-GB", "en-US"}, "en"), "en-GB");
  EXPECT_EQ(LookUpLanguage({"pt-BR"}, "pt-PT"), "pt-BR");
  EXPECT_EQ(LookUpLanguage({"nb", "nn"}, "no"), "nb");
}

TEST(LanguageTagTest, NeverGoesToAnotherScriptOrLanguage) {
  EXPECT_EQ(LookUpLanguage({"zh-Hans"}, "zh-Hant"), "");
  EXPECT_EQ(LookUpLanguage({"zh-Hans", "zh-Hant"}, "zh-TW"), "zh-Hant");
  EXPECT_EQ(LookUpLanguage({"zh-Hant", "zh-Hans"}, "zh"), "zh-Hans");
  EXPECT_EQ(LookUpLanguage({"zh"}, "zt"), "zh");
  EXPECT_EQ(LookUpLanguage({"sr-Cyrl"}, "sr-Latn"), "");
  EXPECT_EQ(LookUpLanguage({"en", "eng"}, "e"), "");
  EXPECT_EQ(LookUpLanguage({"en"}, "end"), "");
  EXPECT_EQ(LookUpLanguage({"en"}, ""), "");
  EXPECT_EQ(LookUpLanguage({}, "en"), "");
}

TEST(LanguageTagTest, MayMeanSeveral) {
  EXPECT_EQ(LanguagesMeant({"pt-PT", "en", "pt", "pt-BR"}, "pt-BR"),
            (List{"pt-BR", "pt", "pt-PT"}));
}

}  // namespace
}  // namespace millrace::models
