#include "models/text/japanese/counters.h"

#include <algorithm>
#include <array>

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
  kHardAfterFour = 64,  // ヨンプン
};

struct KanjiCounter {
  std::u32string_view written;
  std::u32string_view spoken;
  std::u32string_view after_n;  // behind サン, セン and マン; empty: as `spoken`
  unsigned change;
};

// A longer one comes before one that it begins with.
constexpr std::array kKanjiCounters = std::to_array<KanjiCounter>({
    {U"年間", U"ネンカン", U"", kFourIsYo},
    {U"年生", U"ネンセー", U"", kFourIsYo},
    {U"年代", U"ネンダイ", U"", kFourIsYo},
    {U"年度", U"ネンド", U"", kFourIsYo},
    {U"年", U"ネン", U"", kFourIsYo},
    {U"ヶ月", U"カゲツ", U"", kBySound},
    {U"か月", U"カゲツ", U"", kBySound},
    {U"カ月", U"カゲツ", U"", kBySound},
    {U"ケ月", U"カゲツ", U"", kBySound},
    {U"箇月", U"カゲツ", U"", kBySound},
    {U"ヶ所", U"カショ", U"", kBySound},
    {U"か所", U"カショ", U"", kBySound},
    {U"カ所", U"カショ", U"", kBySound},
    {U"箇所", U"カショ", U"", kBySound},
    {U"ヶ国", U"カコク", U"", kBySound},
    {U"か国", U"カコク", U"", kBySound},
    {U"カ国", U"カコク", U"", kBySound},
    {U"月", U"ガツ", U"", kFourIsShi | kSevenIsShichi | kNineIsKu},
    {U"週間", U"シューカン", U"", kBySound},
    {U"週", U"シュー", U"", kBySound},
    {U"日間", U"", U"", kUnchanged},
    {U"日", U"", U"", kUnchanged},
    {U"時間", U"ジカン", U"", kFourIsYo | kSevenIsShichi | kNineIsKu},
    {U"時半", U"ジハン", U"", kFourIsYo | kSevenIsShichi | kNineIsKu | kZeroIsRei},
    {U"時", U"ジ", U"", kFourIsYo | kSevenIsShichi | kNineIsKu | kZeroIsRei},
    {U"分間", U"フンカン", U"プンカン", kBySound | kHardAfterFour},
    {U"分", U"フン", U"プン", kBySound | kHardAfterFour},
    {U"秒間", U"ビョーカン", U"", kUnchanged},
    {U"秒", U"ビョー", U"", kUnchanged},
    {U"人前", U"ニンマエ", U"", kFourIsYo},
    {U"人", U"ニン", U"", kFourIsYo},
    {U"名", U"メー", U"", kUnchanged},
    {U"円", U"エン", U"", kFourIsYo},
    {U"本", U"ホン", U"ボン", kBySound},
    {U"匹", U"ヒキ", U"ビキ", kBySound},
    {U"杯", U"ハイ", U"バイ", kBySound},
    {U"泊", U"ハク", U"パク", kBySound},
    {U"発", U"ハツ", U"パツ", kBySound},
    {U"票", U"ヒョー", U"ビョー", kBySound},
    {U"歩", U"ホ", U"ポ", kBySound},
    {U"品", U"ヒン", U"ピン", kBySound},
    {U"回", U"カイ", U"", kBySound},
    {U"階", U"カイ", U"ガイ", kBySound},
    {U"個", U"コ", U"", kBySound},
    {U"件", U"ケン", U"", kBySound},
    {U"軒", U"ケン", U"ゲン", kBySound},
    {U"曲", U"キョク", U"", kBySound},
    {U"校", U"コー", U"", kBySound},
    {U"機", U"キ", U"", kBySound},
    {U"級", U"キュー", U"", kBySound},
    {U"巻", U"カン", U"", kBySound},
    {U"位", U"イ", U"", kUnchanged},
    {U"冊", U"サツ", U"", kBySound},
    {U"歳", U"サイ", U"", kBySound},
    {U"才", U"サイ", U"", kBySound},
    {U"世紀", U"セーキ", U"", kBySound},
    {U"種類", U"シュルイ", U"", kBySound},
    {U"周年", U"シューネン", U"", kBySound},
    {U"周", U"シュー", U"", kBySound},
    {U"章", U"ショー", U"", kBySound},
    {U"社", U"シャ", U"", kBySound},
    {U"隻", U"セキ", U"", kBySound},
    {U"足", U"ソク", U"ゾク", kBySound},
    {U"着", U"チャク", U"", kBySound},
    {U"丁目", U"チョーメ", U"", kBySound},
    {U"頭", U"トー", U"", kBySound},
    {U"通", U"ツー", U"", kBySound},
    {U"点", U"テン", U"", kBySound},
    {U"勝", U"ショー", U"", kBySound},
    {U"敗", U"ハイ", U"パイ", kBySound},
    {U"枚", U"マイ", U"", kUnchanged},
    {U"台", U"ダイ", U"", kUnchanged},
    {U"度", U"ド", U"", kUnchanged},
    {U"番目", U"バンメ", U"", kUnchanged},
    {U"番線", U"バンセン", U"", kUnchanged},
    {U"番", U"バン", U"", kUnchanged},
    {U"号車", U"ゴーシャ", U"", kUnchanged},
    {U"号", U"ゴー", U"", kUnchanged},
    {U"倍", U"バイ", U"", kUnchanged},
    {U"割", U"ワリ", U"", kUnchanged},
    {U"羽", U"ワ", U"", kUnchanged},
    {U"行", U"ギョー", U"", kUnchanged},
    {U"畳", U"ジョー", U"", kFourIsYo},
    {U"つ", U"", U"", kUnchanged},
    {U"パーセント", U"パーセント", U"", kBySound},
    {U"ポイント", U"ポイント", U"", kBySound},
    {U"ページ", U"ページ", U"", kBySound},
    {U"センチ", U"センチ", U"", kBySound},
    {U"トン", U"トン", U"", kBySound},
    {U"ドル", U"ドル", U"", kUnchanged},
    {U"ユーロ", U"ユーロ", U"", kUnchanged},
    {U"メートル", U"メートル", U"", kUnchanged},
});

// Counters written in hiragana, also with the sound that they have behind some numbers.
constexpr std::array kKanaCounters = std::to_array<KanjiCounter>({
    {U"しゅうかん", U"シューカン", U"", kBySound},
    {U"かげつ", U"カゲツ", U"", kBySound},
    {U"じかん", U"ジカン", U"", kFourIsYo | kSevenIsShichi | kNineIsKu},
    {U"じはん", U"ジハン", U"", kFourIsYo | kSevenIsShichi | kNineIsKu | kZeroIsRei},
    {U"びょう", U"ビョー", U"", kUnchanged},
    {U"がつ", U"ガツ", U"", kFourIsShi | kSevenIsShichi | kNineIsKu},
    {U"にち", U"ニチ", U"", kSevenIsShichi | kNineIsKu},
    {U"ねん", U"ネン", U"", kFourIsYo},
    {U"にん", U"ニン", U"", kFourIsYo},
    {U"えん", U"エン", U"", kFourIsYo},
    {U"ふん", U"フン", U"プン", kBySound | kHardAfterFour},
    {U"ぷん", U"フン", U"プン", kBySound | kHardAfterFour},
    {U"ほん", U"ホン", U"ボン", kBySound},
    {U"ぼん", U"ホン", U"ボン", kBySound},
    {U"ぽん", U"ホン", U"ボン", kBySound},
    {U"ひき", U"ヒキ", U"ビキ", kBySound},
    {U"びき", U"ヒキ", U"ビキ", kBySound},
    {U"ぴき", U"ヒキ", U"ビキ", kBySound},
    {U"はい", U"ハイ", U"バイ", kBySound},
    {U"ばい", U"ハイ", U"バイ", kBySound},
    {U"ぱい", U"ハイ", U"バイ", kBySound},
    {U"かい", U"カイ", U"", kBySound},
    {U"がい", U"カイ", U"ガイ", kBySound},
    {U"さつ", U"サツ", U"", kBySound},
    {U"さい", U"サイ", U"", kBySound},
    {U"まい", U"マイ", U"", kUnchanged},
    {U"だい", U"ダイ", U"", kUnchanged},
    {U"ばん", U"バン", U"", kUnchanged},
    {U"じ", U"ジ", U"", kFourIsYo | kSevenIsShichi | kNineIsKu | kZeroIsRei},
    {U"こ", U"コ", U"", kBySound},
});

// Returns the counter that a text begins with; nullptr if there is none. One in hiragana may be the
// beginning of another word: 3こうえん.
const KanjiCounter* CounterAt(std::u32string_view text) {
  constexpr std::u32string_view kGoOn = U"ぁぃぅぇぉっゃゅょうんーじ";
  for (const KanjiCounter& counter : kKanjiCounters) {
    if (text.starts_with(counter.written)) return &counter;
  }
  for (const KanjiCounter& counter : kKanaCounters) {
    if (!text.starts_with(counter.written)) continue;
    const std::u32string_view behind = text.substr(counter.written.size());
    if (behind.empty() || kGoOn.find(behind.front()) == std::u32string_view::npos) return &counter;
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
  const bool is_p = kP.find(first) != std::u32string_view::npos;
  bool hardened = ReplaceEnding(number, U"イチ", U"イッ") ||
                  ReplaceEnding(number, U"ハチ", U"ハッ") ||
                  ReplaceEnding(number, U"ジュー", U"ジュッ");
  if (is_k || is_h || is_p) {
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

std::u32string CountedNumber(uint64_t value, std::u32string_view written, bool day_of_month) {
  constexpr std::array<std::u32string_view, 11> kThingNames = {
      U"",       U"ヒトツ", U"フタツ", U"ミッツ",   U"ヨッツ", U"イツツ",
      U"ムッツ", U"ナナツ", U"ヤッツ", U"ココノツ", U"トー"};
  const KanjiCounter* counter = FindCounter(written);
  if (counter == nullptr) return CardinalKana(value);
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

}  // namespace millrace::models
