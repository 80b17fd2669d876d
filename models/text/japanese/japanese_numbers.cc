#include "models/text/japanese/japanese_numbers.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/text/ascii.h"

namespace millrace::models {
namespace {

constexpr std::array<std::u32string_view, 10> kDigits = {
    U"ぜろ", U"いち", U"に", U"さん", U"よん", U"ご", U"ろく", U"なな", U"はち", U"きゅう"};
constexpr size_t kMaxDigits = 16;

// Appends a number of 1..9999.
void AppendBelowTenThousand(unsigned value, std::u32string& kana) {
  if (const unsigned thousands = value / 1000; thousands > 0) {
    if (thousands == 8) {
      kana += U"はっ";
    } else if (thousands > 1) {
      kana += kDigits[thousands];
    }
    kana += thousands == 3 ? U"ぜん" : U"せん";
  }
  if (const unsigned hundreds = value / 100 % 10; hundreds > 0) {
    constexpr std::array<std::u32string_view, 10> kHundreds = {
        U"",         U"ひゃく",     U"にひゃく",   U"さんびゃく", U"よんひゃく",
        U"ごひゃく", U"ろっぴゃく", U"ななひゃく", U"はっぴゃく", U"きゅうひゃく"};
    kana += kHundreds[hundreds];
  }
  if (const unsigned tens = value / 10 % 10; tens > 0) {
    if (tens > 1) kana += kDigits[tens];
    kana += U"じゅう";
  }
  if (value % 10 > 0) kana += kDigits[value % 10];
}

std::u32string Cardinal(uint64_t value) {
  if (value == 0) return std::u32string(kDigits[0]);
  constexpr std::array<std::u32string_view, 4> kMyriads = {U"", U"まん", U"おく", U"ちょう"};
  std::u32string kana;
  uint64_t unit = 1'000'000'000'000;
  for (size_t i = kMyriads.size(); i-- > 0; unit /= 10'000) {
    const auto part = static_cast<unsigned>(value / unit % 10'000);
    if (part == 0) continue;
    AppendBelowTenThousand(part, kana);
    kana += kMyriads[i];
  }
  return kana;
}

// A counter and how it changes the digit before it.
struct Counter {
  enum class Change { kFour, kDay, kMonth, kHour, kFirm, kHalfFirm, kBreath };
  std::u32string_view kana;
  Change change;
};

// Longer ones come first.
constexpr std::array<Counter, 30> kCounters = {{{U"しゅうかん", Counter::Change::kHalfFirm},
                                                {U"かげつ", Counter::Change::kFirm},
                                                {U"かこく", Counter::Change::kFirm},
                                                {U"せんち", Counter::Change::kHalfFirm},
                                                {U"ぱーせんと", Counter::Change::kFirm},
                                                {U"ぽいんと", Counter::Change::kFirm},
                                                {U"ぺーじ", Counter::Change::kFirm},
                                                {U"しゃ", Counter::Change::kHalfFirm},
                                                {U"とん", Counter::Change::kHalfFirm},

                                                {U"がつ", Counter::Change::kMonth},
                                                {U"かい", Counter::Change::kFirm},
                                                {U"さい", Counter::Change::kHalfFirm},
                                                {U"さつ", Counter::Change::kHalfFirm},
                                                {U"ちょう", Counter::Change::kHalfFirm},
                                                {U"とう", Counter::Change::kHalfFirm},
                                                {U"えん", Counter::Change::kFour},
                                                {U"ねん", Counter::Change::kFour},
                                                {U"にん", Counter::Change::kFour},
                                                {U"にち", Counter::Change::kDay},
                                                {U"ふん", Counter::Change::kBreath},
                                                {U"ぷん", Counter::Change::kBreath},
                                                {U"ほん", Counter::Change::kBreath},
                                                {U"ぼん", Counter::Change::kBreath},
                                                {U"ぽん", Counter::Change::kBreath},
                                                {U"ひき", Counter::Change::kBreath},
                                                {U"びき", Counter::Change::kBreath},
                                                {U"ぴき", Counter::Change::kBreath},
                                                {U"はい", Counter::Change::kBreath},
                                                {U"じ", Counter::Change::kHour},
                                                {U"こ", Counter::Change::kFirm}}};

void ReplaceEnd(std::u32string& kana, std::u32string_view end, std::u32string_view with) {
  if (!kana.ends_with(end)) return;
  kana.resize(kana.size() - end.size());
  kana += with;
}

// Makes いち, ろく, はち and じゅう end in っ.
void Harden(std::u32string& kana, bool six) {
  ReplaceEnd(kana, U"いち", U"いっ");
  ReplaceEnd(kana, U"はち", U"はっ");
  ReplaceEnd(kana, U"じゅう", U"じゅっ");
  if (!six) return;
  ReplaceEnd(kana, U"ろく", U"ろっ");
  ReplaceEnd(kana, U"ひゃく", U"ひゃっ");
}

// Returns the counter with the first sound that it has behind the number: ふん, ほん, ひき, はい.
std::u32string BreathCounter(char32_t first, const std::u32string& number, uint64_t value,
                             bool minutes) {
  constexpr std::u32string_view kPlain = U"はひふへほ";
  constexpr std::u32string_view kSoft = U"ばびぶべぼ";
  constexpr std::u32string_view kHard = U"ぱぴぷぺぽ";
  size_t at = std::min({kPlain.find(first), kSoft.find(first), kHard.find(first)});
  if (at == std::u32string_view::npos) return std::u32string(1, first);
  const unsigned digit = value % 10;
  if (number.ends_with(U"っ")) return std::u32string(1, kHard[at]);
  if (digit == 3) return std::u32string(1, minutes ? kHard[at] : kSoft[at]);
  if (digit == 4 && minutes) return std::u32string(1, kHard[at]);
  return std::u32string(1, kPlain[at]);
}

// Returns the reading of the whole of a number and a counter that have a word of their own: ひとつ,
// ふたり, みっか.
std::u32string_view Native(uint64_t value, std::u32string_view behind, bool day_of_month,
                           size_t& taken) {
  constexpr std::array<std::u32string_view, 10> kThings = {
      U"",       U"ひとつ", U"ふたつ", U"みっつ", U"よっつ",
      U"いつつ", U"むっつ", U"ななつ", U"やっつ", U"ここのつ"};
  constexpr std::array<std::u32string_view, 11> kDays = {
      U"",       U"",       U"ふつか", U"みっか",   U"よっか", U"いつか",
      U"むいか", U"なのか", U"ようか", U"ここのか", U"とおか"};
  taken = 1;
  if (behind.starts_with(U"つ") && value > 0 && value < kThings.size()) return kThings[value];
  if (behind.starts_with(U"にん") && (value == 1 || value == 2)) {
    taken = 2;
    return value == 1 ? U"ひとり" : U"ふたり";
  }
  const bool days = behind.starts_with(U"か") && !behind.starts_with(U"かい") &&
                    !behind.starts_with(U"かげ") && !behind.starts_with(U"かこ") &&
                    !behind.starts_with(U"かしょ") &&
                    (day_of_month || !behind.starts_with(U"から"));
  if (days && value > 1 && value < kDays.size()) return kDays[value];
  if (days && value == 14) return U"じゅうよっか";
  if (days && value == 20) return U"はつか";
  if (days && value == 24) return U"にじゅうよっか";
  if (day_of_month && value == 1 && behind.starts_with(U"にち")) {
    taken = 2;
    return U"ついたち";
  }
  taken = 0;
  return {};
}

}  // namespace

std::u32string JapaneseDigits(std::string_view digits) {
  std::u32string kana;
  for (const char c : digits)
    kana += IsAsciiDigit(c) ? kDigits[static_cast<size_t>(c - '0')] : U"の";
  return kana;
}

std::u32string JapaneseNumber(std::string_view number, std::u32string_view behind,
                              bool day_of_month, size_t& taken) {
  taken = 0;
  std::string whole;
  const size_t point = std::min(number.find('.'), number.size());
  for (const char c : number.substr(0, point)) {
    if (c != ',') whole += c;
  }
  const bool padded = whole.size() > 1 && whole.front() == '0';
  if (padded || whole.size() > kMaxDigits) return JapaneseDigits(whole);
  uint64_t value = 0;
  for (const char c : whole) value = value * 10 + static_cast<uint64_t>(c - '0');
  if (point < number.size()) {
    std::u32string kana = Cardinal(value);
    Harden(kana, false);
    return kana + U"てん" + JapaneseDigits(number.substr(point + 1));
  }
  if (const auto native = Native(value, behind, day_of_month, taken); !native.empty())
    return std::u32string(native);
  std::u32string kana = Cardinal(value);
  const auto counter = std::ranges::find_if(
      kCounters, [&](const Counter& one) { return behind.starts_with(one.kana); });
  if (counter == kCounters.end()) return kana;
  switch (counter->change) {
    case Counter::Change::kFour:
      ReplaceEnd(kana, U"よん", U"よ");
      break;
    case Counter::Change::kDay:
      ReplaceEnd(kana, U"なな", U"しち");
      ReplaceEnd(kana, U"きゅう", U"く");
      break;
    case Counter::Change::kMonth:
      ReplaceEnd(kana, U"よん", U"し");
      ReplaceEnd(kana, U"なな", U"しち");
      ReplaceEnd(kana, U"きゅう", U"く");
      break;
    case Counter::Change::kHour:
      ReplaceEnd(kana, U"よん", U"よ");
      ReplaceEnd(kana, U"なな", U"しち");
      ReplaceEnd(kana, U"きゅう", U"く");
      break;
    case Counter::Change::kFirm:
      Harden(kana, true);
      break;
    case Counter::Change::kHalfFirm:
      Harden(kana, false);
      break;
    case Counter::Change::kBreath: {
      Harden(kana, true);
      const bool minutes = counter->kana == U"ふん" || counter->kana == U"ぷん";
      kana += BreathCounter(behind.front(), kana, value, minutes);
      taken = 1;
      break;
    }
  }
  return kana;
}

}  // namespace millrace::models
