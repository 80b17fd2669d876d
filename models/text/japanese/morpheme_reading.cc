#include "models/text/japanese/morpheme_reading.h"

#include <algorithm>

#include "models/text/japanese/japanese_characters.h"
#include "models/text/japanese/reading_in_context.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns the pronunciation with the long vowels that the dictionary writes as kana in some
// words: リョウ of 量, キュウキュウシャ of 救急車, ユウ of 言う.
std::string Lengthened(std::string kana) {
  constexpr std::string_view kLong = "ー";
  for (const std::string_view vowel : {"ョウ", "ュウ", "ユウ"}) {
    for (size_t at = kana.find(vowel); at != std::string::npos; at = kana.find(vowel, at))
      kana.replace(at + vowel.size() - kLong.size(), kLong.size(), kLong);
  }
  return kana;
}

}  // namespace

std::string Pronunciation(std::u32string_view text, const Morpheme& morpheme) {
  const std::u32string_view written = text.substr(morpheme.begin, morpheme.end - morpheme.begin);
  if (written == U"中") {
    // The whole of it: 一日中, 今日中; not 授業中.
    const std::u32string_view before = text.substr(0, morpheme.begin);
    for (const std::u32string_view whole :
         {U"一日", U"一晩", U"一年", U"1日", U"今日", U"今年", U"明日", U"家", U"国", U"町", U"村",
          U"街", U"体", U"部屋", U"日本", U"夏"}) {
      if (before.ends_with(whole)) return "ジュー";
    }
  }
  if (const auto reading =
          ReadingInContext(text, morpheme.begin, morpheme.end, morpheme.pronunciation);
      !reading.empty())
    return Utf8(reading);
  std::string kana = Lengthened(morpheme.pronunciation);
  // わあ.
  if (written.size() > 1 && written.ends_with(U"あ") && std::ranges::all_of(written, IsHiragana) &&
      kana.ends_with("ワア"))
    kana.replace(kana.size() - std::string_view("ア").size(), std::string::npos, "ー");
  constexpr std::string_view kFormal = "ニッポン";
  const size_t formal = kana.find(kFormal);
  const bool is_name = written.starts_with(U"日本銀行") || written.starts_with(U"日本放送協会") ||
                       text.substr(morpheme.end).starts_with(U"銀行");
  if (formal != std::string::npos && written.find(U"日本") != written.npos && !is_name)
    kana.replace(formal, kFormal.size(), "ニホン");
  return kana;
}

std::string EndingOfLast(std::u32string_view text, std::span<const SpokenUnit> units,
                         const Morpheme& morpheme) {
  constexpr std::string_view kLong = "ー";
  const std::u32string_view written = text.substr(morpheme.begin, morpheme.end - morpheme.begin);
  const bool vowels = written.find_first_not_of(U"あいうえおー") == written.npos;
  // えっ, but not いっ.
  const bool cry = written == U"えっ";
  if ((!vowels && !cry) || units.empty() || units.back().end != morpheme.begin) return {};
  const std::string& kana = units.back().kana;
  if (kana.empty() || units.back().mark) return {};
  const char32_t last = DecodeBefore(kana, kana.size()).value;
  const bool alone = written.size() == 1;
  constexpr std::u32string_view kARow = U"アカガサザタダナハバパマャヤラワ";
  constexpr std::u32string_view kORow = U"オコゴソゾトドノホボポモョヨロ";
  if (written == U"う" && kORow.find(last) != kORow.npos) return std::string(kLong);
  if (written == U"あ" && kARow.find(last) != kARow.npos) return std::string(kLong);
  if (last == U'ー' && (alone || written == U"ああ")) {
    if (written == U"い") return "イ";
    return written == U"あ" || written == U"お" || written == U"え" || written == U"ああ"
               ? std::string(kLong)
               : std::string();
  }
  // え えっ, え えー, う おおお.
  const bool begun = kana == "エ" || kana == "エー";
  return begun && !alone && written.front() == U'え' ? morpheme.pronunciation : std::string();
}

}  // namespace millrace::models
