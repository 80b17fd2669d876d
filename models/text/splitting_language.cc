#include "models/text/splitting_language.h"

#include <algorithm>
#include <map>
#include <string>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/splitting_languages_text.h"

namespace millrace::models {
namespace {

using Entry = SplittingLanguage::Entry;
using enum Abbreviation;

void AddWord(SplittingLanguage& language, std::string_view kind, std::string_view word) {
  if (kind == "starters") {
    language.starters.push_back(word);
  } else if (kind == "rules") {
    (word == "ordinal-stops" ? language.ordinal_stops : language.semicolon_asks) = true;
  } else {
    language.abbreviations.push_back({word, kind == "always"          ? kAlways
                                            : kind == "before-number" ? kBeforeNumber
                                                                      : kUnlessStarter});
  }
}

using Languages = std::map<std::string_view, SplittingLanguage>;

Languages ReadLanguages() {
  Languages languages;
  for (const auto& [tags, kind, words] : ReadTable<3>(kSplittingLanguagesText)) {
    ForEachWord(tags, [&, kind = kind, words = words](std::string_view tag) {
      SplittingLanguage& language = languages[tag];
      ForEachWord(words, [&](std::string_view word) { AddWord(language, kind, word); });
    });
  }
  for (auto& [tag, language] : languages) {
    std::ranges::sort(language.abbreviations, {}, &Entry::word);
    std::ranges::sort(language.starters);
  }
  return languages;
}

const Languages& AllLanguages() {
  static const auto& languages = *new Languages(ReadLanguages());
  return languages;
}

const SplittingLanguage& EachLanguage() {
  static const SplittingLanguage& each = AllLanguages().at("*");
  return each;
}

}  // namespace

Abbreviation SplittingLanguage::Find(std::string_view word) const {
  const std::string lower = AsciiLower(word);
  for (const SplittingLanguage* language : {this, &EachLanguage()}) {
    const auto found = std::ranges::lower_bound(language->abbreviations, lower, {}, &Entry::word);
    if (found != language->abbreviations.end() && found->word == lower) return found->kind;
  }
  return kNone;
}

bool SplittingLanguage::IsStarter(std::string_view word) const {
  return std::ranges::binary_search(starters, word) ||
         std::ranges::binary_search(EachLanguage().starters, word);
}

const SplittingLanguage& SplittingLanguageOf(std::string_view tag) {
  const auto found = AllLanguages().find(AsciiLower(tag.substr(0, tag.find_first_of("-_"))));
  return found == AllLanguages().end() ? EachLanguage() : found->second;
}

}  // namespace millrace::models
