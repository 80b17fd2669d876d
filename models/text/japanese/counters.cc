#include "models/text/japanese/counters.h"

#include <algorithm>
#include <array>
#include <vector>

#include "models/core/embedded_table.h"
#include "models/text/japanese/counters_text.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr std::array<std::u32string_view, 10> kDigitKana = {
    U"ゼロ", U"イチ", U"ニ", U"サン", U"ヨン", U"ゴ", U"ロク", U"ナナ", U"ハチ", U"キュー"};

// How a counter changes the number before it, beside the changes that its first sound makes.
enum Change : unsigned {
  kUnchanged = 0,  // not even those
  kBySound = 1,    // ッ before k, s, t, h and p
  kFourIsYo = 2,   // ヨニン
  kFourIsShi = 4,  // シガツ
  kSevenIsShichi = 8,
  kNineIsKu = 16,
  kZeroIsRei = 32,
  kHardAfterFour = 64,    // ヨンプン
  kMayBeginWord = 128,    // 3こうえん
  kCountsNatively = 256,  // ヒトフクロ, フタフクロ
};

struct KanjiCounter {
  std::u32string written;
  std::u32string spoken;
  std::u32string after_n;  // behind サン, セン and マン; empty: as `spoken`
  unsigned change;
};

const std::vector<KanjiCounter>& Counters() {
  static const auto& counters = *new auto([] {
    constexpr std::string_view kLetters = "sy4790hkw";  // in the order of Change
    std::vector<KanjiCounter> all;
    for (const auto& [written, spoken, after_n, letters] : ReadTable<4>(kCountersText)) {
      unsigned change = kUnchanged;
      for (const char letter : letters) change |= 1U << kLetters.find(letter);
      all.push_back({DecodeUtf8(written), DecodeUtf8(spoken), DecodeUtf8(after_n), change});
    }
    return all;
  }());
  return counters;
}

// Returns the counter that a text begins with; nullptr if there is none. One in hiragana may be the
// beginning of another word: 3こうえん.
const KanjiCounter* CounterAt(std::u32string_view text) {
  constexpr std::u32string_view kGoOn = U"ぁぃぅぇぉっゃゅょうんーじ";
  for (const KanjiCounter& counter : Counters()) {
    if (!text.starts_with(counter.written)) continue;
    const std::u32string_view behind = text.substr(counter.written.size());
    if ((counter.change & kMayBeginWord) == 0 || behind.empty() ||
        kGoOn.find(behind.front()) == std::u32string_view::npos)
      return &counter;
  }
  return nullptr;
}

const KanjiCounter* FindCounter(std::u32string_view written) {
  const KanjiCounter* const counter = CounterAt(written);
  return counter != nullptr && counter->written == written ? counter : nullptr;
}

bool EndsWithAny(std::u32string_view text, std::initializer_list<std::u32string_view> ends) {
  return std::ranges::any_of(ends, [&](std::u32string_view end) { return text.ends_with(end); });
}

bool ReplaceEnding(std::u32string& text, std::u32string_view end, std::u32string_view with) {
  if (!text.ends_with(end)) return false;
  text.replace(text.size() - end.size(), end.size(), with);
  return true;
}

void AppendDigitWord(std::u32string& text, std::u32string_view word) {
  if (!text.empty()) text += U' ';
  text += word;
}

// Appends a number of 1..9999: words of thousands, of hundreds, and of tens and ones. `myriad`: a
// larger unit follows.
void AppendDigitGroup(unsigned value, bool myriad, std::u32string& text) {
  constexpr std::array<std::u32string_view, 10> kThousands = {
      U"",       U"セン",     U"ニセン",   U"サンゼン", U"ヨンセン",
      U"ゴセン", U"ロクセン", U"ナナセン", U"ハッセン", U"キューセン"};
  constexpr std::array<std::u32string_view, 10> kHundredsKana = {
      U"",         U"ヒャク",     U"ニヒャク",   U"サンビャク", U"ヨンヒャク",
      U"ゴヒャク", U"ロッピャク", U"ナナヒャク", U"ハッピャク", U"キューヒャク"};
  if (const unsigned digit = value / 1000; digit > 0)
    AppendDigitWord(text, digit == 1 && myriad ? U"イッセン" : kThousands[digit]);
  if (const unsigned digit = value / 100 % 10; digit > 0)
    AppendDigitWord(text, kHundredsKana[digit]);
  if (const unsigned digit = value / 10 % 10; digit > 0) {
    AppendDigitWord(text, digit == 1 ? U"" : kDigitKana[digit]);
    text += U"ジュー";
  }
  if (value % 10 == 0) return;
  // Tens and ones are one word.
  if (value / 10 % 10 == 0 && !text.empty()) text += U' ';
  text += kDigitKana[value % 10];
}

constexpr std::array<std::u32string_view, 4> kMyriadKana = {U"", U"マン", U"オク", U"チョー"};
constexpr uint64_t kTrillion = 1'000'000'000'000;

std::u32string CardinalKana(uint64_t value) {
  if (value == 0) return std::u32string(kDigitKana[0]);
  std::u32string text;
  uint64_t unit = kTrillion;
  for (size_t i = kMyriadKana.size(); i-- > 0; unit /= 10'000) {
    const auto part = static_cast<unsigned>(value / unit % 10'000);
    if (part == 0) continue;
    AppendDigitGroup(part, i > 0, text);
    if (i == 3) {
      ReplaceEnding(text, U"イチ", U"イッ");
      ReplaceEnding(text, U"ハチ", U"ハッ");
      ReplaceEnding(text, U"ジュー", U"ジュッ");
    }
    text += kMyriadKana[i];
  }
  return text;
}

// Returns the counter behind a number whose end it changes: イチ and ホン are イッ and ポン.
std::u32string JoinedCounter(std::u32string& number, const KanjiCounter& counter) {
  std::u32string spoken(counter.spoken);
  const char32_t first = spoken.front();
  constexpr std::u32string_view kH = U"ハヒフヘホ";
  constexpr std::u32string_view kP = U"パピプペポ";
  const bool is_h = kH.find(first) != std::u32string_view::npos;
  const bool is_k = std::u32string_view(U"カキクケコ").find(first) != std::u32string_view::npos;
  bool hardened = ReplaceEnding(number, U"イチ", U"イッ") ||
                  ReplaceEnding(number, U"ハチ", U"ハッ") ||
                  ReplaceEnding(number, U"ジュー", U"ジュッ");
  if (is_k || is_h) {
    hardened = hardened || ReplaceEnding(number, U"ロク", U"ロッ") ||
               ReplaceEnding(number, U"ヒャク", U"ヒャッ") ||
               ReplaceEnding(number, U"ビャク", U"ビャッ") ||
               ReplaceEnding(number, U"ピャク", U"ピャッ");
  }
  const bool hard =
      is_h && (hardened || ((counter.change & kHardAfterFour) != 0 && number.ends_with(U"ヨン")));
  if (hard) {
    spoken.front() = kP[kH.find(first)];
  } else if (!counter.after_n.empty() &&
             EndsWithAny(number, {U"サン", U"セン", U"ゼン", U"マン"})) {
    spoken = counter.after_n;
  }
  return spoken;
}

// Returns the words of days, ミッカ and ジューゴ ニチ.
std::u32string Days(uint64_t value, bool day_of_month) {
  constexpr std::array<std::u32string_view, 11> kDayNames = {
      U"",       U"",       U"フツカ", U"ミッカ",   U"ヨッカ", U"イツカ",
      U"ムイカ", U"ナノカ", U"ヨーカ", U"ココノカ", U"トーカ"};
  if (value == 1) return day_of_month ? U"ツイタチ" : U"イチニチ";
  if (value > 1 && value < kDayNames.size()) return std::u32string(kDayNames[value]);
  if (value == 20) return U"ハツカ";
  std::u32string number = CardinalKana(value);
  if (value == 14 || value == 24) {
    ReplaceEnding(number, U"ヨン", U"ヨッカ");
    return number;
  }
  if (value % 10 == 7) ReplaceEnding(number, U"ナナ", U"シチ");
  if (value % 10 == 9) ReplaceEnding(number, U"キュー", U"ク");
  return number == CardinalKana(value) ? number + U" ニチ" : number + U"ニチ";
}

}  // namespace

size_t CounterLength(std::u32string_view text) {
  const KanjiCounter* const counter = CounterAt(text);
  return counter == nullptr ? 0 : counter->written.size();
}

std::u32string CountedNumber(uint64_t value, std::u32string_view written,
                             std::u32string_view before) {
  constexpr std::array<std::u32string_view, 11> kThingNames = {
      U"",       U"ヒトツ", U"フタツ", U"ミッツ",   U"ヨッツ", U"イツツ",
      U"ムッツ", U"ナナツ", U"ヤッツ", U"ココノツ", U"トー"};
  const KanjiCounter* counter = FindCounter(written);
  if (counter == nullptr) return CardinalKana(value);
  const bool day_of_month = EndsWithAny(before, {U"月", U"がつ"});
  if (written == U"分" && (before.ends_with(U'割') || (before.ends_with(U'度') && value < 10)))
    return CardinalKana(value) + U" ブ";
  if (written == U"日") return Days(value, day_of_month);
  if (written == U"日間") {
    std::u32string days = Days(value, false);
    return days + U"カン";
  }
  if (written == U"つ") {
    return value > 0 && value < kThingNames.size() ? std::u32string(kThingNames[value])
                                                   : CardinalKana(value) + U"ツ";
  }
  const bool people = written == U"人" || written == U"にん";
  if (people && value == 1) return U"ヒトリ";
  if (people && value == 2) return U"フタリ";
  if ((counter->change & kCountsNatively) != 0 && (value == 1 || value == 2))
    return (value == 1 ? U"ヒト" : U"フタ") + counter->spoken;
  if (value == 20 && (written == U"歳" || written == U"才")) return U"ハタチ";
  if (written == U"にち" && value == 1 && day_of_month) return U"ツイタチ";
  std::u32string number = CardinalKana(value);
  if (value == 0 && (counter->change & kZeroIsRei) != 0) number = U"レー";
  if ((counter->change & kFourIsYo) != 0) ReplaceEnding(number, U"ヨン", U"ヨ");
  if ((counter->change & kFourIsShi) != 0) ReplaceEnding(number, U"ヨン", U"シ");
  if ((counter->change & kSevenIsShichi) != 0) ReplaceEnding(number, U"ナナ", U"シチ");
  if ((counter->change & kNineIsKu) != 0) ReplaceEnding(number, U"キュー", U"ク");
  const std::u32string behind = (counter->change & kBySound) != 0 ? JoinedCounter(number, *counter)
                                                                  : std::u32string(counter->spoken);
  // A counter that does not change the number is a word of its own.
  return number == CardinalKana(value) ? number + U" " + behind : number + behind;
}

void HardenBeforePoint(uint64_t value, std::u32string& spoken) {
  if (value == 0) spoken = U"レー";
  if (value % 10 == 1 || value % 10 == 8 || spoken.ends_with(U"ジュー")) spoken.back() = U'ッ';
}

std::u32string SpokenDigits(std::u32string_view digits) {
  std::u32string text;
  for (const char32_t c : digits) {
    if (c >= '0' && c <= '9') text += kDigitKana[c - '0'];
  }
  return text;
}

std::u32string KanjiNumber(uint64_t value) {
  if (value == 0) return U"零";
  constexpr std::u32string_view kSmallUnits = U"千百十";
  constexpr std::array<std::u32string_view, 4> kLarge = {U"", U"万", U"億", U"兆"};
  std::u32string text;
  uint64_t unit = kTrillion;
  for (size_t i = kLarge.size(); i-- > 0; unit /= 10'000) {
    const auto part = static_cast<unsigned>(value / unit % 10'000);
    if (part == 0) continue;
    unsigned place = 1000;
    for (size_t k = 0; k <= kSmallUnits.size(); ++k, place /= 10) {
      const unsigned digit = part / place % 10;
      if (digit == 0) continue;
      if (digit > 1 || k == kSmallUnits.size()) text += kKanjiDigits[digit];
      if (k < kSmallUnits.size()) text += kSmallUnits[k];
    }
    text += kLarge[i];
  }
  return text;
}

namespace {

// Returns the counter that a text in hiragana begins with, as CountedNumber takes it: 3ページ has
// one in katakana, and the days of 5か are 日. `taken` becomes its length.
std::u32string CounterOf(uint64_t value, std::u32string_view behind, bool month, size_t& taken) {
  std::u32string katakana(behind);
  for (char32_t& c : katakana) c += c >= 0x3041 && c <= 0x3096 ? 0x60 : 0;
  for (const std::u32string_view written : {behind, std::u32string_view(katakana)}) {
    taken = CounterLength(written);
    if (taken > 0) return std::u32string(written.substr(0, taken));
  }
  const bool named = (value > 1 && value <= 10) || value == 14 || value == 20 || value == 24;
  const bool days = named && behind.starts_with(U'か') && (month || !behind.starts_with(U"から"));
  taken = days ? 1 : 0;
  return days ? U"日" : U"";
}

}  // namespace

std::u32string NumberAmongKana(const std::u32string& number, std::u32string_view behind, bool month,
                               size_t& taken) {
  taken = 0;
  if (number.find('-') != number.npos || std::ranges::count(number, '.') > 1) {
    std::u32string groups;
    for (const char32_t c : number)
      groups += IsDigit(c) ? SpokenDigits({&c, 1}) : std::u32string(U"ノ");
    return groups;
  }
  const size_t point = std::min(number.find('.'), number.size());
  std::u32string whole = number.substr(0, point);
  std::erase(whole, ',');
  if ((whole.size() > 1 && whole.front() == '0') || whole.size() > kMaxNumberDigits)
    return SpokenDigits(whole);
  uint64_t value = 0;
  for (const char32_t c : whole) value = value * 10 + (c - '0');
  if (point == number.size()) {
    const std::u32string counter = CounterOf(value, behind, month, taken);
    return CountedNumber(value, counter, month ? U"月" : U"");
  }
  std::u32string reading = CountedNumber(value, {}, {});
  HardenBeforePoint(value, reading);
  return reading + U"テン" + SpokenDigits(number.substr(point + 1));
}

}  // namespace millrace::models
