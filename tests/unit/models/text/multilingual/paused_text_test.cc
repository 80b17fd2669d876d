#include "models/text/multilingual/paused_text.h"

#include <gtest/gtest.h>

#include "fakes/linear_time.h"

namespace millrace::models {
namespace {

// "text|marks|text|marks|"
std::string Divided(std::string_view text, bool ends = true) {
  std::string divided;
  for (const PausedText& piece : DivideAtMarks(text, ends))
    divided += piece.text + "|" + piece.marks + "|";
  return divided;
}

TEST(PausedTextTest, DividesAtPausesQuotesAndBrackets) {
  EXPECT_EQ(Divided("Hola, mundo; (sí): no!"), "Hola|, |mundo|; (|sí|): |no|!|");
  EXPECT_EQ(Divided("¿Y \"él\"?"), "|¿|Y| \"|él|\"?|");
  EXPECT_EQ(Divided("Ma — bella"), "Ma| — |bella||");
  EXPECT_EQ(Divided("Ma –  bella, oui-oui"), "Ma| — |bella|, |oui-oui||");
  EXPECT_EQ(Divided("Espera... ¿no?"), "Espera|... ¿|no|?|");
  EXPECT_EQ(Divided("Fine? Sì. dopo"), "Fine|? |Sì|. |dopo||");
}

TEST(PausedTextTest, GuillemetsAndTheDandaAreReadAsWhatKokoroKnows) {
  EXPECT_EQ(Divided("« Oui ! » dit-il."), "|“ |Oui| ! ” |dit-il|.|");
  EXPECT_EQ(Divided("गर्मी है।"), "गर्मी है|.|");
  EXPECT_EQ(Divided("गया॥"), "गया|.|");
}

TEST(PausedTextTest, WhiteSpaceOfAnyKindIsOneSpace) {
  EXPECT_EQ(Divided(" Ça\u00a0va \t bien\u202f? "), "| |Ça va bien| ? |");
  EXPECT_EQ(Divided("a\x01\nb"), "a b||");
}

TEST(PausedTextTest, AMarkWithinANumberOrAnAddressIsPartOfIt) {
  for (const char* text : {"3,14", "1.500", "10:30", "३.१४", "www.ejemplo.com", "p.ej", "1.º piso"})
    EXPECT_EQ(Divided(text), std::string(text) + "||");
  EXPECT_EQ(Divided("en 1984, 27"), "en 1984|, |27||");
  EXPECT_EQ(Divided("nota:sí"), "nota|:|sí||");
}

TEST(PausedTextTest, TheStopOfAnAbbreviationIsLeftOut) {
  EXPECT_EQ(Divided("El Sr. Pérez."), "El Sr Pérez|.|");
  EXPECT_EQ(Divided("J. R. Silva (Dr. Costa) veio."), "J R Silva| (|Dr Costa|) |veio|.|");
  EXPECT_EQ(Divided("La pág. 42 no"), "La pág 42 no||");
  EXPECT_EQ(Divided("Vio el mar. nadie"), "Vio el mar|. |nadie||");
  // At the end of the sentence its stop is that of the sentence, too.
  EXPECT_EQ(Divided("Pan, etc.»"), "Pan|, |etc|.”|");
  // But what ends here goes on with a pronunciation that the author gave.
  EXPECT_EQ(Divided("El Sr. ", false), "El Sr| |");
}

TEST(PausedTextTest, NothingGivesNothing) {
  EXPECT_EQ(Divided(""), "");
  EXPECT_EQ(Divided("..."), "|...|");
  EXPECT_EQ(Divided("a\xff\xc3"), "a||");
}

TEST(PausedTextTest, TakesLinearTime) {
  for (const char* unit : {"a", ".", " ", ". ", "a. ", "(a", "Sr. "}) {
    ExpectLinearTime(unit, 200'000, [](const std::string& text) { DivideAtMarks(text, true); });
  }
}

}  // namespace
}  // namespace millrace::models
