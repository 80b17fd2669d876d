#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// Language tags as RFC 5646 (BCP 47) has them: subtags in any case, with - or _ between them. As
// LibreTranslate has it, pb is the Portuguese of Brazil and zt Chinese in traditional characters.
// Thread-safe.

// A tag in its usual form: en, pt-BR, zh-Hant. What is no tag stays as it is but for its case.
std::string CanonicalLanguage(std::string_view tag);

// Which of some languages a tag may mean, the best first: by the look-up of RFC 4647, section 3.4,
// the tag itself and what is left of it without its last subtags; then those that are more special
// than it, in their order. Never one of another script. Elements of `languages`, as they are there.
std::vector<std::string> LanguagesMeant(const std::vector<std::string>& languages,
                                        std::string_view tag);
// The best of them; empty when there is none.
std::string LookUpLanguage(const std::vector<std::string>& languages, std::string_view tag);

}  // namespace millrace::models
