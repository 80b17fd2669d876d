#include "server/frontends/riva/dnt_phrases.h"

#include <algorithm>
#include <cstddef>

#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/text/trim.h"

namespace millrace::server {
namespace {

constexpr std::string_view kPhraseSeparator = "##";
// So many of each kind are allowed, which is checked with their lengths once all are read.
constexpr size_t kMaxPhrases = 2'000;

}  // namespace

absl::Status TakeDntPhrases(std::string_view field, std::string_view phrases,
                            std::vector<models::GlossaryEntry>& glossary,
                            std::vector<std::string>& kept) {
  while (!phrases.empty()) {
    const size_t end = std::min(phrases.find(','), phrases.size());
    const std::string_view phrase = models::Trim(phrases.substr(0, end));
    phrases.remove_prefix(std::min(end + 1, phrases.size()));
    if (phrase.empty()) continue;
    const size_t middle = std::min(phrase.find(kPhraseSeparator), phrase.size());
    const std::string_view term = models::Trim(phrase.substr(0, middle));
    const std::string_view translation =
        models::Trim(phrase.substr(std::min(middle + kPhraseSeparator.size(), phrase.size())));
    if (term.empty()) {
      return InvalidArgument(field, ": ", Shown(phrase), " has no term before ##");
    }
    if (glossary.size() + kept.size() == kMaxPhrases) {
      return InvalidArgument(field, ": is one of more than ", kMaxPhrases,
                             " phrases, the most allowed");
    }
    if (translation.empty()) {
      kept.emplace_back(term);
    } else {
      glossary.push_back({std::string(term), std::string(translation)});
    }
  }
  return absl::OkStatus();
}

}  // namespace millrace::server
