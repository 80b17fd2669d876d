#include "models/text/multilingual/espeak_language.h"

#include <gtest/gtest.h>

namespace millrace::models {
namespace {

TEST(EspeakLanguageTest, EachTagHasAVoice) {
  ASSERT_NE(FindEspeakLanguage("fr-FR"), nullptr);
  EXPECT_EQ(FindEspeakLanguage("fr-FR")->voice, "fr-fr");
  EXPECT_EQ(FindEspeakLanguage("pt-BR")->voice, "pt-br");
  // These languages have a front end of their own, or none.
  for (const char* tag : {"", "en-US", "ja", "zh", "fr"})
    EXPECT_EQ(FindEspeakLanguage(tag), nullptr) << tag;
}

}  // namespace
}  // namespace millrace::models
