#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// Language tags of RFC 5646 (BCP 47): subtags in any case, separated by - or _. As in
// LibreTranslate, pb is Brazilian Portuguese and zt Chinese in traditional characters. Thread-safe.

// Returns the canonical form of a tag: en, pt-BR, zh-Hant. Of other strings only the case changes.
std::string CanonicalLanguage(std::string_view tag);

// Returns the elements of `languages` that a tag may mean, the best first: by the look-up of RFC
// 4647, section 3.4, the tag itself and what remains when subtags are removed from its end; then
// more specific tags, in their order. The script never differs.
std::vector<std::string> LanguagesMeant(const std::vector<std::string>& languages,
                                        std::string_view tag);
// Returns the best of them, or an empty string.
std::string LookUpLanguage(const std::vector<std::string>& languages, std::string_view tag);

}  // namespace millrace::models
