#include "models/text/japanese/japanese_signs.h"

#include <algorithm>
#include <array>
#include <utility>

#include "models/text/japanese/normalized_text.h"
#include "models/text/sign_names.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr SignName<std::u32string_view> kJapaneseCurrencies[] = {
    {U"¥", U"円"}, {U"$", U"ドル"}, {U"€", U"ユーロ"}, {U"£", U"ポンド"}};

constexpr SignName<std::u32string_view> kJapaneseSymbols[] = {
    {U"&", U"アンド"},   {U"@", U"アット"},   {U"%", U"パーセント"},     {U"+", U"プラス"},
    {U"=", U"イコール"}, {U"×", U"カケル"},   {U"±", U"プラスマイナス"}, {U"÷", U"ワル"},
    {U"√", U"ルート"},   {U"〒", U"郵便番号"}};

}  // namespace

std::u32string_view JapaneseCurrency(char32_t c) { return NameOfSign(kJapaneseCurrencies, c); }

std::u32string_view JapaneseSymbol(char32_t c) { return NameOfSign(kJapaneseSymbols, c); }

std::u32string_view LabelBeforeNumber(std::u32string_view text, size_t at) {
  constexpr auto kLabels =
      std::to_array<std::pair<std::u32string_view, std::u32string_view>>({{U"No.", U"ナンバー"},
                                                                          {U"Vol.", U"ボリューム"},
                                                                          {U"vol.", U"ボリューム"},
                                                                          {U"Ver.", U"バージョン"},
                                                                          {U"ver.", U"バージョン"},
                                                                          {U"P.", U"ページ"},
                                                                          {U"p.", U"ページ"}});
  if (at > 0 && IsLatinLetter(text[at - 1])) return {};
  for (const auto& [written, spoken] : kLabels) {
    const size_t number = at + written.size();
    if (text.substr(at).starts_with(written) && number < text.size() && IsDigit(text[number]))
      return spoken;
  }
  return {};
}

std::u32string_view EnglishCount(std::u32string_view text) {
  constexpr auto kNames =
      std::to_array<std::u32string_view>({U"ワン", U"ツー", U"スリー", U"フォー", U"ファイブ"});
  constexpr auto kNouns = std::to_array<std::u32string_view>(
      {U"ラン", U"ストライク", U"アウト", U"ボール", U"トップ", U"タッチ", U"クリック",
       U"ポイントシュート", U"バウンド", U"シーター"});
  if (text.empty() || !IsBetween(text.front(), '1', '5')) return {};
  const std::u32string_view behind = text.substr(1);
  const bool counts = std::ranges::any_of(kNouns, [behind](std::u32string_view noun) {
    return behind.starts_with(noun) &&
           (behind.size() == noun.size() || !IsBetween(behind[noun.size()], U'ァ', U'ー'));
  });
  return counts ? kNames[text.front() - '1'] : std::u32string_view();
}

bool EndsLabel(std::u32string_view before) {
  constexpr std::u32string_view kLabels = U"問例図表注";
  const size_t last = before.find_last_not_of(U"0123456789");
  return last != before.npos && last + 1 < before.size() &&
         kLabels.find(before[last]) != kLabels.npos;
}

size_t SchemeLength(std::u32string_view text) {
  for (const std::u32string_view scheme : {U"https://", U"http://"}) {
    if (text.starts_with(scheme)) return scheme.size();
  }
  return 0;
}

bool EndsShortForm(std::u32string_view before) {
  constexpr auto kForms =
      std::to_array<std::u32string_view>({U"vs", U"VS", U"Mr", U"Mrs", U"Ms", U"Dr", U"St"});
  return std::ranges::any_of(kForms, [before](auto form) {
    return before.ends_with(form) && (before.size() == form.size() ||
                                      !IsLatinLetter(before[before.size() - form.size() - 1]));
  });
}

}  // namespace millrace::models
