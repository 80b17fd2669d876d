#include "models/core/language_tag.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace millrace::models {
namespace {

using Subtags = std::vector<std::string>;
using Pair = std::pair<std::string_view, std::string_view>;

// Deprecated codes, and LibreTranslate's own.
constexpr std::array<Pair, 7> kOtherCodes = {{{"in", "id"},
                                              {"iw", "he"},
                                              {"ji", "yi"},
                                              {"jw", "jv"},
                                              {"mo", "ro"},
                                              {"pb", "pt-br"},
                                              {"zt", "zh-hant"}}};
// The script of Chinese follows from the region where no script is named.
constexpr std::array<std::string_view, 3> kTraditional = {"hk", "mo", "tw"};

Subtags Split(std::string_view tag) {
  Subtags subtags(1);
  for (const char c : tag) {
    if (c == '-' || c == '_') {
      subtags.emplace_back();
    } else {
      subtags.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  const auto* const other = std::ranges::find(kOtherCodes, subtags[0], &Pair::first);
  if (other == kOtherCodes.end()) return subtags;
  Subtags whole = Split(other->second);
  whole.insert(whole.end(), subtags.begin() + 1, subtags.end());
  return whole;
}

bool IsScript(const std::string& subtag) {
  return subtag.size() == 4 &&
         std::ranges::all_of(subtag, [](unsigned char c) { return std::isalpha(c) != 0; });
}

// Returns the script, or an empty string if it is unknown.
std::string ScriptOf(const Subtags& tag) {
  const auto script = std::find_if(tag.begin() + 1, tag.end(), IsScript);
  if (script != tag.end()) return *script;
  if (tag[0] != "zh") return "";
  const bool traditional = std::ranges::any_of(tag, [](const std::string& subtag) {
    return std::ranges::find(kTraditional, subtag) != kTraditional.end();
  });
  return traditional ? "hant" : "hans";
}

bool InScriptOf(const Subtags& tag, const Subtags& asked) {
  // The model handles Chinese in any script.
  if (tag == Subtags{"zh"}) return true;
  const std::string script = ScriptOf(tag);
  const std::string other = ScriptOf(asked);
  return script.empty() || other.empty() || script == other;
}

bool BeginsWith(const Subtags& tag, const Subtags& beginning) {
  return tag.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), tag.begin());
}

}  // namespace

std::string CanonicalLanguage(std::string_view tag) {
  const Subtags subtags = Split(tag);
  std::string canonical = subtags[0];
  for (size_t i = 1; i < subtags.size(); ++i) {
    std::string subtag = subtags[i];
    const auto upper = [](unsigned char c) { return static_cast<char>(std::toupper(c)); };
    if (IsScript(subtag)) {
      subtag[0] = upper(static_cast<unsigned char>(subtag[0]));
    } else if (subtag.size() == 2 && subtags[i - 1].size() > 1) {
      std::ranges::transform(subtag, subtag.begin(), upper);
    }
    canonical += '-' + subtag;
  }
  return canonical;
}

std::vector<std::string> LanguagesMeant(const std::vector<std::string>& languages,
                                        std::string_view tag) {
  if (tag.empty()) return {};
  const Subtags asked = Split(tag);
  std::vector<Subtags> have;
  for (const std::string& language : languages) have.push_back(Split(language));
  std::vector<std::string> meant;
  const auto add = [&](size_t i) {
    if (std::ranges::find(meant, languages[i]) == meant.end()) meant.push_back(languages[i]);
  };
  for (Subtags range = asked; !range.empty();) {
    for (size_t i = 0; i < have.size(); ++i) {
      if (have[i] == range && InScriptOf(have[i], asked)) add(i);
    }
    // The two written forms of Norwegian have tags of their own.
    if (range == Subtags{"no"}) {
      range = {"nb"};
      continue;
    }
    range.pop_back();
    // A single letter begins an extension, which was removed.
    if (range.size() > 1 && range.back().size() == 1) range.pop_back();
  }
  const Subtags language = asked[0] == "no" ? Subtags{"nb"} : Subtags{asked[0]};
  for (const Subtags& range : {asked, language}) {
    for (size_t i = 0; i < have.size(); ++i) {
      if (BeginsWith(have[i], range) && InScriptOf(have[i], asked)) add(i);
    }
  }
  return meant;
}

std::string LookUpLanguage(const std::vector<std::string>& languages, std::string_view tag) {
  std::vector<std::string> meant = LanguagesMeant(languages, tag);
  return meant.empty() ? std::string() : std::move(meant.front());
}

}  // namespace millrace::models
