#include "models/text/japanese/latin_reading.h"

#include <algorithm>
#include <array>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/japanese/loan_words_text.h"
#include "models/text/japanese/romaji_text.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr std::array<std::u32string_view, 26> kLetterNames = {
    U"エー",   U"ビー",       U"シー",     U"ディー", U"イー",  U"エフ",   U"ジー",
    U"エイチ", U"アイ",       U"ジェー",   U"ケー",   U"エル",  U"エム",   U"エヌ",
    U"オー",   U"ピー",       U"キュー",   U"アール", U"エス",  U"ティー", U"ユー",
    U"ブイ",   U"ダブリュー", U"エックス", U"ワイ",   U"ゼット"};

constexpr std::string_view kLatinVowels = "aiueo";

// Returns the kana of Hepburn romaji in lower case; empty if the word is none.
std::u32string Romaji(std::string_view word) {
  static const auto& rows = *new auto(ReadTable<6>(kRomajiText));
  std::u32string kana;
  for (size_t at = 0; at < word.size();) {
    const char c = word[at];
    const char next = ByteAt(word, at + 1);
    if (c == 'n' && kLatinVowels.find(next) == std::string_view::npos && next != 'y') {
      kana += U'ン';
      ++at;
      continue;
    }
    if (c == next && std::string_view("kstp").find(c) != std::string_view::npos) {
      kana += U'ッ';
      ++at;
      continue;
    }
    const auto row = std::ranges::find_if(rows, [&](const auto& one) {
      const char vowel = ByteAt(word, at + one.front().size());
      return word.substr(at).starts_with(one.front()) && vowel != 0 &&
             kLatinVowels.find(vowel) != std::string_view::npos;
    });
    if (row == rows.end()) return {};
    at += row->front().size();
    const std::string_view syllable = (*row)[1 + kLatinVowels.find(word[at++])];
    if (syllable.empty()) return {};
    kana += DecodeUtf8(syllable);
  }
  return kana;
}

}  // namespace

std::u32string LoanWordReading(std::string_view word) {
  static const WordTable<2> words(kLoanWordsText);
  const auto* const row = words.Find(word);
  return row == nullptr ? std::u32string() : DecodeUtf8(row->back());
}

std::u32string NameWithDigits(std::u32string_view text, size_t& length) {
  constexpr size_t kLongest = 16;
  const auto is_part = [text](size_t i) {
    return i < text.size() && text[i] < 0x80 && IsAsciiAlnum(static_cast<char>(text[i]));
  };
  std::string name;
  size_t end = 0;
  for (; end < kLongest &&
         (is_part(end) || (end < text.size() && text[end] == '-' && is_part(end + 1)));
       ++end) {
    if (text[end] != '-') name += AsciiLower(static_cast<char>(text[end]));
  }
  if (is_part(end) || name.find_first_of("0123456789") == name.npos) return {};
  length = end;
  return LoanWordReading(name);
}

std::u32string LatinReading(std::string_view word) {
  // Capitals alone are an abbreviation.
  const bool capitals = std::ranges::all_of(word, IsAsciiUpper);
  if (!capitals && word.size() > 2) {
    if (std::u32string kana = Romaji(AsciiLower(word)); !kana.empty()) return kana;
  }
  std::u32string names;
  for (const char c : word) {
    if (IsAsciiLetter(c)) names += kLetterNames[static_cast<size_t>(AsciiLower(c) - 'a')];
  }
  return names;
}

}  // namespace millrace::models
