#include "models/text/japanese/japanese_signs.h"

#include <algorithm>
#include <array>
#include <utility>

#include "models/text/japanese/normalized_text.h"
#include "models/text/unicode.h"

namespace millrace::models {

std::u32string_view JapaneseCurrency(char32_t c) {
  switch (c) {
    case U'¥':
      return U"円";
    case '$':
      return U"ドル";
    case U'€':
      return U"ユーロ";
    case U'£':
      return U"ポンド";
    default:
      return {};
  }
}

std::u32string_view JapaneseSymbol(char32_t c) {
  switch (c) {
    case '&':
      return U"アンド";
    case '@':
      return U"アット";
    case '%':
      return U"パーセント";
    case '+':
      return U"プラス";
    case '=':
      return U"イコール";
    case U'×':
      return U"カケル";
    case U'±':
      return U"プラスマイナス";
    case U'÷':
      return U"ワル";
    case U'√':
      return U"ルート";
    default:
      return {};
  }
}

std::u32string_view LabelBeforeNumber(std::u32string_view text, size_t at) {
  constexpr auto kLabels =
      std::to_array<std::pair<std::u32string_view, std::u32string_view>>({{U"No.", U"ナンバー"},
                                                                          {U"Vol.", U"ボリューム"},
                                                                          {U"vol.", U"ボリューム"},
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

bool EndsShortForm(std::u32string_view before) {
  constexpr auto kForms =
      std::to_array<std::u32string_view>({U"vs", U"VS", U"Mr", U"Mrs", U"Ms", U"Dr", U"St"});
  return std::ranges::any_of(kForms, [before](auto form) {
    return before.ends_with(form) && (before.size() == form.size() ||
                                      !IsLatinLetter(before[before.size() - form.size() - 1]));
  });
}

}  // namespace millrace::models
