#include "models/text/multilingual/misaki_symbols.h"

#include <gtest/gtest.h>

namespace millrace::models {
namespace {

TEST(MisakiSymbolsTest, DiphthongsAndAffricatesAreOneLetter) {
  EXPECT_EQ(MisakiFromTiedIpa("a^ɪ a^ʊ e^ɪ o^ʊ ə^ʊ ɔ^ɪ d^z d^ʒ s^s t^s t^ʃ"),
            "I W A O Q Y ʣ ʤ S ʦ ʧ");
  EXPECT_EQ(MisakiFromTiedIpa("raɡˈat^sːɪ"), "raɡˈaʦːɪ");
}

TEST(MisakiSymbolsTest, WhatIsNotTiedStaysApart) {
  EXPECT_EQ(MisakiFromTiedIpa("aɪ tʃ sː"), "aɪ tʃ sː");
}

TEST(MisakiSymbolsTest, OtherTiesAndHyphensAreLeftOut) {
  EXPECT_EQ(MisakiFromTiedIpa("kˌoɾasˈɐ̃^ʊ̃"), "kˌoɾasˈɐ̃ʊ̃");
  EXPECT_EQ(MisakiFromTiedIpa("lə- ɡaʁsˈɔ̃"), "lə ɡaʁsˈɔ̃");
}

TEST(MisakiSymbolsTest, IpaOfAuthorsHasTiesOrNone) {
  EXPECT_EQ(MisakiFromIpa("təˈmeɪtoʊ"), "təˈmAtO");
  EXPECT_EQ(MisakiFromIpa("t͡ʃɑːdʒ"), "ʧɑːʤ");
  EXPECT_EQ(MisakiFromIpa("gəʊ bɪssa"), "ɡQ bɪssa");
  EXPECT_EQ(MisakiFromIpa("r."), "r.");
  EXPECT_EQ(MisakiFromIpa(""), "");
}

TEST(MisakiSymbolsTest, TheFlapOfHindiIsNoPause) {
  EXPECT_EQ(MisakiFromTiedIpa("ɡˈaːr.i bˈʌr"), "ɡˈaːɽi bˈʌr");
}

}  // namespace
}  // namespace millrace::models
