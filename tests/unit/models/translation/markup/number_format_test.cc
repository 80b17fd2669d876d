#include "models/translation/markup/number_format.h"

#include <gtest/gtest.h>

#include <string>

#include "models/translation/markup/number_repair.h"
#include "models/translation/markup/numeric_text.h"
#include "models/translation/markup/source_sentences.h"

namespace millrace::translation {
namespace {

constexpr NumberFormats kEnPt = {NumberFormat::kCommaGroups, NumberFormat::kStopGroups};
constexpr NumberFormats kPtEn = {NumberFormat::kStopGroups, NumberFormat::kCommaGroups};
constexpr NumberFormats kEnFr = {NumberFormat::kCommaGroups, NumberFormat::kSpaceGroups};
constexpr NumberFormats kFrEn = {NumberFormat::kSpaceGroups, NumberFormat::kCommaGroups};

std::string Converted(std::string_view number, const NumberFormats& formats) {
  const auto converted = ConvertNumber(number, formats);
  return converted ? converted->text : "as it is";
}

// Returns the translation with its numbers repaired.
std::string Repaired(std::string_view source, std::string target, const NumberFormats& formats) {
  const std::vector<NumberRepair> repairs = RepairNumbers(source, target, formats);
  for (auto it = repairs.rbegin(); it != repairs.rend(); ++it)
    target.replace(it->target.begin, it->target.end - it->target.begin, it->becomes);
  return target;
}

std::string ConvertedText(std::string text, const NumberFormats& formats) {
  MarkedText marked{.text = std::move(text)};
  ConvertNumbers(marked, formats);
  return marked.text;
}

TEST(NumberFormatTest, ALanguageHasItsSeparators) {
  EXPECT_EQ(NumberFormatOf("en"), NumberFormat::kCommaGroups);
  EXPECT_EQ(NumberFormatOf("en_GB"), NumberFormat::kCommaGroups);
  EXPECT_EQ(NumberFormatOf("pt-BR"), NumberFormat::kStopGroups);
  EXPECT_EQ(NumberFormatOf("FR"), NumberFormat::kSpaceGroups);
  EXPECT_EQ(NumberFormatOf("de-CH"), std::nullopt);
  EXPECT_EQ(NumberFormatOf("xx"), std::nullopt);
  EXPECT_EQ(NumberFormatOf(""), std::nullopt);
}

TEST(NumberFormatTest, ANumberKeepsItsValue) {
  EXPECT_EQ(Converted("2,200,112", kEnPt), "2.200.112");
  EXPECT_EQ(Converted("7,499.050", kEnPt), "7.499,050");
  EXPECT_EQ(Converted("4.140", kEnPt), "4,140");
  EXPECT_EQ(Converted("4.140", kPtEn), "4,140");
  EXPECT_EQ(Converted("2.486,70", kPtEn), "2,486.70");
  EXPECT_EQ(Converted("0.500", kEnPt), "0,500");
  EXPECT_EQ(Converted("1,234,567.8", kEnFr), "1\u00A0234\u00A0567,8");
  EXPECT_EQ(Converted("1\u202F234,5", kFrEn), "1,234.5");
  EXPECT_EQ(Converted("1 234,5", kFrEn), "1,234.5");
  EXPECT_EQ(Converted("12,34,567", kEnPt), "1.234.567");  // lakhs
}

TEST(NumberFormatTest, ANumberInTheOthersFormatIsReadAsThat) {
  EXPECT_EQ(Converted("2.200.112", kEnPt), "2.200.112");
  EXPECT_EQ(Converted("2.486,70", kEnPt), "2.486,70");
  EXPECT_EQ(Converted("2,200,112", kPtEn), "2,200,112");
}

TEST(NumberFormatTest, WhatIsNoSingleNumberStays) {
  for (const char* text : {"2024", "12.05.2024", "192.168.100.200", "1.2.3", "1,2,3",
                           "555.123.4567", "1,2345,678.9", "1.23,4.5"})
    EXPECT_EQ(Converted(text, kEnPt), "as it is") << text;
  EXPECT_EQ(Converted("192.168.100.200", kPtEn), "as it is");
  EXPECT_EQ(Converted("1,234", {NumberFormat::kCommaGroups, std::nullopt}), "as it is");
}

TEST(NumberFormatTest, ATimeWithAFractionStays) {
  EXPECT_EQ(ConvertedText("00:01.000 --> 00:02.500", kEnPt), "00:01.000 --> 00:02.500");
  EXPECT_EQ(ConvertedText("a ratio of 1: 2,500", kEnPt), "a ratio of 1: 2.500");
}

TEST(NumberFormatTest, AFractionThatNobodyMisreadsMayStay) {
  EXPECT_FALSE(ConvertNumber("4.5", kEnPt)->must_convert);
  EXPECT_FALSE(ConvertNumber("12.30", kEnPt)->must_convert);
  EXPECT_TRUE(ConvertNumber("4.500", kEnPt)->must_convert);
  EXPECT_TRUE(ConvertNumber("1,234.5", kEnPt)->must_convert);
}

TEST(NumberRepairTest, ANumberIsNeverInHalfOfEachFormat) {
  EXPECT_EQ(Repaired("It emitted 2,200,112 kg.", "Emitiu 2.200,112 kg.", kEnPt),
            "Emitiu 2.200.112 kg.");
  EXPECT_EQ(Repaired("O total foi de 7.955,07.", "The total was 7,955,07.", kPtEn),
            "The total was 7,955.07.");
  EXPECT_EQ(Repaired("Of 244,890 people, 23,116 left", "De 244,890 pessoas, 23.116 foram", kEnPt),
            "De 244.890 pessoas, 23.116 foram");
  EXPECT_EQ(Repaired("In 2024 it rose", "Em 2.024 subiu", kEnPt), "Em 2024 subiu");
}

TEST(NumberRepairTest, SumsAreAllInOneFormat) {
  EXPECT_EQ(Repaired("It costs $1,000, not $999.99", "Custa $1,000, não $999.99", kEnPt),
            "Custa $1.000, não $999,99");
}

TEST(NumberRepairTest, WhatIsRightStays) {
  for (const char* target : {"Subiu 4,5 por cento", "Subiu 4.5 por cento"})
    EXPECT_EQ(Repaired("It rose 4.5 percent", target, kEnPt), target);
  EXPECT_EQ(Repaired("It has 50000 files", "Tem 50.000 arquivos", kEnPt), "Tem 50.000 arquivos");
  EXPECT_EQ(Repaired("It has 1,234 files", "Tem 1.235 arquivos", kEnPt), "Tem 1.234 arquivos");
  EXPECT_EQ(Repaired("It has 1,234 files", "Tem 1,234 arquivos", {}), "Tem 1,234 arquivos");
}

TEST(NumberRepairTest, AWordMayStandForZeros) {
  EXPECT_EQ(Repaired("It cost 5,000 in all", "Custou 5 mil ao todo", kEnPt),
            "Custou 5 mil ao todo");
  EXPECT_EQ(Repaired("It cost 3,000,000 in all", "Custou 3 milhões ao todo", kEnPt),
            "Custou 3 milhões ao todo");
  EXPECT_TRUE(LostNumbers("It cost 5,000 in all", "Custou 5 mil ao todo", kEnPt).empty());
  EXPECT_EQ(Repaired("It cost 5,000", "Custou 5", kEnPt), "Custou 5.000");
}

TEST(NumberRepairTest, WhatTheModelAddedBehindANumberGoes) {
  EXPECT_EQ(Repaired("It costs $3.50", "Custa $3.50 (50)", kEnPt), "Custa $3,50");
  EXPECT_EQ(Repaired("Pay $283.82 now", "Pague $283.82 (23,82) agora", kEnPt),
            "Pague $283,82 agora");
  EXPECT_EQ(Repaired("It costs $1,299.99", "Custa $1.299,99 (EUA)", kEnPt), "Custa $1.299,99");
  EXPECT_EQ(Repaired("At 12:30", "Às 12:30 (00)", kEnPt), "Às 12:30");
  EXPECT_EQ(Repaired("It has 1,533", "Tem 1.533 1.533", kEnPt), "Tem 1.533");
  EXPECT_EQ(Repaired("under article 335, and", "sob o artigo 335.o, e", kEnPt),
            "sob o artigo 335, e");
}

TEST(NumberRepairTest, BracketsAndOrdinalsOfTheSourceStay) {
  EXPECT_EQ(Repaired("It has 12 (50 in all)", "Tem 12 (50 ao todo)", kEnPt), "Tem 12 (50 ao todo)");
  EXPECT_EQ(Repaired("It has 12 files", "Tem 12 (cerca de uma dúzia) arquivos", kEnPt),
            "Tem 12 (cerca de uma dúzia) arquivos");
  EXPECT_EQ(Repaired("the 335th time", "a 335ª vez", kEnPt), "a 335ª vez");
  EXPECT_EQ(Repaired("the 1st of 3rd rank", "o 1o da 3a ordem", kEnPt), "o 1º da 3ª ordem");
  EXPECT_EQ(Repaired("part 1a of 2nd", "parte 1a de 2.o", kEnPt), "parte 1a de 2º");
}

TEST(NumberRepairTest, AnOrdinalHasTheMarkOfItsLanguage) {
  const NumberFormats to_pt = NumberFormatsOf("en", "pt");
  const NumberFormats to_en = NumberFormatsOf("pt-BR", "en");
  EXPECT_EQ(Repaired("21st", "21", to_pt), "21º");
  EXPECT_EQ(Repaired("Set it to 100th now", "Defina como 100 agora", to_pt),
            "Defina como 100º agora");
  EXPECT_EQ(Repaired("the 42nd time", "a 42 vez", to_pt), "a 42ª vez");
  EXPECT_EQ(Repaired("on May 21st", "em 21 de maio", to_pt), "em 21 de maio");
  EXPECT_EQ(Repaired("on the 21st", "no dia 21", to_pt), "no dia 21");
  EXPECT_EQ(Repaired("on 4th Street", "na 4th Street", to_pt), "na 4th Street");
  EXPECT_EQ(Repaired("1,000th", "1,000", to_pt), "1.000º");
  EXPECT_EQ(Repaired("250º", "250º", to_en), "250th");
  EXPECT_EQ(Repaired("o 112º filho", "the 112 son", to_en), "the 112th son");
  EXPECT_EQ(Repaired("a 3.ª vez", "the 3 time", to_en), "the 3rd time");
  EXPECT_EQ(Repaired("o 11º e o 21º", "the 11 and the 21", to_en), "the 11th and the 21st");
  EXPECT_EQ(Repaired("1º de maio", "May 1", to_en), "May 1");
  EXPECT_EQ(Repaired("São 21 pessoas", "They are 21 people", to_en), "They are 21 people");
}

TEST(NumberRepairTest, AnAgeIsNoOrdinal) {
  const NumberFormats to_pt = NumberFormatsOf("en", "pt");
  EXPECT_EQ(Repaired("On her 40th birthday", "Em seu aniversário de 40 anos", to_pt),
            "Em seu aniversário de 40 anos");
  EXPECT_EQ(Repaired("her 40th birthday", "seu 40 aniversário", to_pt), "seu 40º aniversário");
}

TEST(NumberRepairTest, TheDayOfADateIsWrittenAsInEnglish) {
  const NumberFormats to_en = NumberFormatsOf("pt", "en");
  EXPECT_EQ(Repaired("Segunda-feira, 5 de maio", "Monday, 5 of May", to_en), "Monday, 5th of May");
  EXPECT_EQ(Repaired("em 22 de maio", "on 22 of May", to_en), "on 22nd of May");
  EXPECT_EQ(Repaired("12 de junho de 2024", "June 12 of 2024", to_en), "June 12, 2024");
  EXPECT_EQ(Repaired("5 de maio", "5 May", to_en), "5 May");
  EXPECT_EQ(Repaired("5 de cada 10", "5 of every 10", to_en), "5 of every 10");
}

TEST(NumberRepairTest, AnOrdinalAloneIsConverted) {
  EXPECT_EQ(ConvertedText("1.000º", NumberFormatsOf("pt", "en")), "1,000th");
  EXPECT_EQ(ConvertedText("3ª", NumberFormatsOf("pt", "en")), "3rd");
  EXPECT_EQ(ConvertedText("3ª", NumberFormatsOf("pt", "es")), "3ª");
  EXPECT_TRUE(IsNumericText("4º"));
  EXPECT_TRUE(IsNumericText("(100.ª)"));
  EXPECT_FALSE(IsNumericText("4ºB"));
}

TEST(NumberRepairTest, ADegreeIsNoOrdinal) {
  const NumberFormats to_en = NumberFormatsOf("pt", "en");
  EXPECT_EQ(Repaired("Medimos 10° hoje", "We measured 10th today", to_en), "We measured 10° today");
  EXPECT_EQ(Repaired("Medimos 10° hoje", "We measured 10 degrees today", to_en),
            "We measured 10 degrees today");
}

TEST(NumberRepairTest, ATimeKeepsItsSeconds) {
  EXPECT_EQ(Repaired("It starts at 23:59:59 every night", "Começa às 23:59 todas as noites", kEnPt),
            "Começa às 23:59:59 todas as noites");
  EXPECT_EQ(Repaired("From 1:02:03 to 1:02:04", "De 1:02 a 1:02:04", kEnPt),
            "De 1:02:03 a 1:02:04");
}

TEST(NumberRepairTest, AConjunctionStandsForNoZeros) {
  EXPECT_FALSE(LostNumbers("10.000 and 12", "10 e 12", kEnPt).empty());
}

TEST(NumberRepairTest, ANumberWithAUnitIsNoVersion) {
  EXPECT_EQ(Repaired("4.7 GB (4,700 MB)", "4.7 GB (4.700 MB)", kEnPt), "4,7 GB (4.700 MB)");
  EXPECT_EQ(Repaired("It runs at 2.4GHz.", "Funciona a 2.4GHz.", kEnPt), "Funciona a 2,4GHz.");
  EXPECT_EQ(Repaired("section 4.2 of it", "secção 4.2 disso", kEnPt), "secção 4.2 disso");
}

TEST(NumberRepairTest, WhatASignJoinsStaysJoined) {
  EXPECT_EQ(Repaired("CEP 01310-100", "Postcode 01310 - 100", kPtEn), "Postcode 01310-100");
  EXPECT_EQ(Repaired("nota 7/10", "grade 7 / 10", kPtEn), "grade 7/10");
  EXPECT_EQ(Repaired("10 - 20", "10 - 20", kPtEn), "10 - 20");
  EXPECT_EQ(Repaired("I have 5$ now", "Tenho 5 $ agora", kEnPt), "Tenho 5$ agora");
  EXPECT_EQ(Repaired("I have 5 $ now", "Tenho 5 $ agora", kEnPt), "Tenho 5 $ agora");
  EXPECT_EQ(Repaired("12.5% of it", "12,5 % disso", kEnPt), "12,5% disso");
}

TEST(NumberRepairTest, ACodeComesBackAsItIsWritten) {
  EXPECT_EQ(Repaired("It is on 05/03/2024.", "É em 03/03/2024.", kEnPt), "É em 05/03/2024.");
  EXPECT_EQ(Repaired("It is on 12/25/2023.", "É em 25/12/2023.", kEnPt), "É em 25/12/2023.");
  EXPECT_EQ(Repaired("It is on 2024-03-05.", "É em 5 de março de 2024.", kEnPt),
            "É em 5 de março de 2024.");
  EXPECT_EQ(Repaired("O CPF é 123.456.789-09.", "The CPF is 123,456,789-09.", kPtEn),
            "The CPF is 123.456.789-09.");
  EXPECT_EQ(Repaired("O CNPJ é 12.345.678/0001-95.", "The CNPJ is 12,345,678/0001-95.", kPtEn),
            "The CNPJ is 12.345.678/0001-95.");
  EXPECT_EQ(
      Repaired("Ligue 212-555-0198 ou 212-555-0199", "Call 212-555-0198 or 212-55-0199", kPtEn),
      "Call 212-555-0198 or 212-555-0199");
  EXPECT_EQ(Repaired("São 1.000-2.000 pessoas", "It is 1,000-2,000 people", kPtEn),
            "It is 1,000-2,000 people");
  EXPECT_EQ(ConvertedText("123.456.789-09", kPtEn), "123.456.789-09");
  EXPECT_EQ(ConvertedText("12.345.678", kPtEn), "12,345,678");
}

TEST(NumberRepairTest, ANumberThatStandsForNoneIsNoticed) {
  EXPECT_TRUE(AddsNumber("Article 5(2) applies.", "É aplicável o artigo 582.", kEnPt));
  EXPECT_FALSE(AddsNumber("In the '80s we danced.", "Em 1980 dançamos.", kEnPt));
  EXPECT_FALSE(AddsNumber("It has 5,000", "Tem 5.000", kEnPt));
}

TEST(NumericTextTest, NumbersSumsAndTimesAreNoWords) {
  for (const char* text : {"1,000.50", "12:30", "$3.50", "R$ 1.234,56", "US$ 5", "EUR 20", "9 am",
                           "2024-05-01T12:30:00Z", "12/05/2024", "50 %", "+351 21 000 00 00", "1."})
    EXPECT_TRUE(IsNumericText(text)) << text;
  for (const char* text : {"", "am", "5 apples", "May 3, 2024", "3 лет", "100 人", "1st", "-"})
    EXPECT_FALSE(IsNumericText(text)) << text;
}

TEST(NumericTextTest, ANumberByItselfReachesNoModel) {
  for (const char* text : {"1,000.50", "12:30", "R$ 1.234,56"})
    EXPECT_FALSE(ReadSentences(text, models::TextFormat::kText, "en", {}).front().has_words)
        << text;
  EXPECT_TRUE(ReadSentences("5 apples", models::TextFormat::kText, "en", {}).front().has_words);
}

TEST(NumericTextTest, ValuesThatWouldBeMisreadAreConverted) {
  EXPECT_EQ(ConvertedText("2.200.112", kPtEn), "2,200,112");
  EXPECT_EQ(ConvertedText("$3.50 / 1,000.50", kEnPt), "$3,50 / 1.000,50");
  EXPECT_EQ(ConvertedText("99.5 %", kEnPt), "99,5 %");
  EXPECT_EQ(ConvertedText("3.10", kEnPt), "3.10");  // perhaps a version
  EXPECT_EQ(ConvertedText("1,234", kEnFr), "1\u00A0234");
  EXPECT_EQ(ConvertedText("1,234", {}), "1,234");
}

TEST(RepairNumbersTest, AFractionThatTheModelDividesIsJoined) {
  EXPECT_EQ(Repaired("0.5 ml", "0, 5 ml", kEnPt), "0,5 ml");
  EXPECT_EQ(Repaired("In 2020, 5 left", "Em 2020, 5 saíram", kEnPt), "Em 2020, 5 saíram");
}

TEST(RepairNumbersTest, ASignThatTouchesANumberTouchesItStill) {
  EXPECT_EQ(Repaired("It is >1,000 now", "É > 1.000 agora", kEnPt), "É >1.000 agora");
  EXPECT_EQ(Repaired("It is <5 now", "É < 5 agora", kEnPt), "É <5 agora");
  EXPECT_EQ(Repaired("It is > 5 now", "É > 5 agora", kEnPt), "É > 5 agora");
}

TEST(RepairNumbersTest, AScaleOfTemperaturesHasItsDegreeSign) {
  const NumberFormats formats = NumberFormatsOf("pt", "en");
  EXPECT_EQ(Repaired("Vimos 68°F ontem", "We saw 68F yesterday", formats), "We saw 68°F yesterday");
  EXPECT_EQ(Repaired("Vimos 68°F ontem", "We saw 68thF", formats), "We saw 68°F");
  EXPECT_EQ(Repaired("Vimos 20°C", "We saw 20°C", formats), "We saw 20°C");
}

}  // namespace
}  // namespace millrace::translation
