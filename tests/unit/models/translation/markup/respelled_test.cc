#include "models/translation/markup/respelled.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "models/translation/markup/restore.h"
#include "models/translation/markup/source_sentences.h"

namespace millrace::translation {
namespace {

CharacterFit KnowsAscii(char32_t c) {
  return c < 0x80 ? CharacterFit::kKnown : CharacterFit::kUnknown;
}

// A translation by hand of what a model reads: its words in order, each with the number of the
// source's word that it comes from behind a slash; "+" joins to the word before.
std::string Restored(std::string_view text, std::string_view by_hand) {
  const MarkedText source =
      ReadSentences(text, models::TextFormat::kText, "en", {}, KnowsAscii).front().marked;
  std::vector<size_t> places;
  for (size_t at = 0; at < source.text.size(); ++at) {
    const bool sign = source.text[at] == '"';
    if (source.text[at] != ' ' &&
        (at == 0 || sign || source.text[at - 1] == ' ' || source.text[at - 1] == '"'))
      places.push_back(at);
  }
  std::string target;
  std::vector<AlignedPiece> pieces;
  std::istringstream words{std::string(by_hand)};
  for (std::string word; words >> word;) {
    const size_t slash = word.rfind('/');
    const bool joined = word[0] == '+';
    if (!joined && !target.empty()) target += ' ';
    const size_t begin = target.size();
    target += word.substr(joined ? 1 : 0, slash - (joined ? 1 : 0));
    pieces.push_back({begin, target.size(), places.at(std::stoul(word.substr(slash + 1)))});
  }
  return Restore(source, target, pieces);
}

TEST(RespelledTest, SignsComeBackInTheirOrder) {
  EXPECT_EQ(Restored("He said “yes” and «no, no».",
                     "Ele/0 disse/1 \"/2 +sim/3 +\"/4 e/5 \"/6 +no,/7 no/8 +\"/9 +./10"),
            "Ele disse “sim” e «no, no».");
  EXPECT_EQ(Restored("He came — late—now.", "Veio/1 -/2 tarde/3 -/4 já/5"), "Veio — tarde—já");
  EXPECT_EQ(Restored("Wait… what?", "Espere/0 +.../0 o/1 quê?/1"), "Espere… o quê?");
}

TEST(RespelledTest, ASignOfTheTextsOwnStays) {
  EXPECT_EQ(Restored("A - b — c", "A/0 -/1 b/2 -/3 c/4"), "A - b — c");
  EXPECT_EQ(Restored("\"A\" “b”", "\"/0 +A/1 +\"/2 \"/3 +b/4 +\"/5"), "\"A\" “b”");
}

TEST(RespelledTest, AnotherKindOfQuotationMarkTakesTheSamePlace) {
  EXPECT_EQ(Restored("He said “don't”", "Disse/0 '/2 +d'água/3 +'/4"), "Disse “d'água”");
}

TEST(RespelledTest, ADashTakesThePlaceOfTheSignThatComesFromIt) {
  EXPECT_EQ(Restored("He came — late", "Veio/1 +,/2 tarde/3"), "Veio — tarde");
  EXPECT_EQ(Restored("He came—late", "Veio/1 +,/2 tarde/3"), "Veio—tarde");
  EXPECT_EQ(Restored("A — b — c", "A/0 +,/1 b/2 -/3 c/4"), "A — b — c");
}

TEST(RespelledTest, ADashTouchesTheMarkBehindItAndNoWordInstead) {
  EXPECT_EQ(Restored("He said —, then left", "Disse/1 -/2 +,/2 partiu/4"), "Disse —, partiu");
  EXPECT_EQ(Restored("He said —, then left", "Disse/1 -/2 partiu/4"), "Disse — partiu");
}

TEST(RespelledTest, WhatTheModelLeftOutStandsBetweenTheSameWords) {
  EXPECT_EQ(Restored("He came — late", "Veio/1 tarde/3"), "Veio — tarde");
  EXPECT_EQ(Restored("He came… late", "Veio/1 tarde/2"), "Veio… tarde");
  EXPECT_EQ(Restored("He said “yes” now", "Disse/1 sim/3 já/5"), "Disse “sim” já");
  EXPECT_EQ(Restored("He said “yes” now", "Disse/1 \"/2 +sim/3 já/5"), "Disse “sim” já");
  EXPECT_EQ(Restored("He left the house…", "Partiu/1 da/2 casa/3"), "Partiu da casa…");
}

}  // namespace
}  // namespace millrace::translation
