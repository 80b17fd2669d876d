// Looks for lists of pronunciations that damage a text, and for lists of phrases from which terms
// come that are not theirs. The first line is the list, the rest the text.
//
// usage: riva_fuzz [-max_total_time=60] tests/fuzz/seeds/riva

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/unicode.h"
#include "server/frontends/riva/custom_dictionary.h"
#include "server/frontends/riva/dnt_phrases.h"
#include "tests/fuzz/require.h"

namespace millrace::server {
namespace {

// Returns the text without pronunciations: "[word](/phonemes/)" becomes "word". Neither the text
// nor a word of a dictionary has brackets.
std::string WithoutPronunciations(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const size_t open = std::min(text.find('['), text.size());
    plain += text.substr(0, open);
    text.remove_prefix(open);
    if (text.empty()) break;
    const size_t middle = text.find("](/");
    const size_t end = text.find("/)");
    Require(middle != std::string_view::npos && end != std::string_view::npos && middle < end,
            "a pronunciation does not end");
    plain += text.substr(1, middle - 1);
    text.remove_prefix(end + 2);
  }
  return plain;
}

void TryDictionary(std::string_view list, std::string_view text) {
  const auto dictionary = CustomDictionary::Parse(list);
  if (!dictionary.ok() || text.find('[') != std::string_view::npos) return;
  Require(WithoutPronunciations(dictionary->Apply(text)) == text, "damages the text");
}

void TryPhrases(std::string_view list) {
  std::vector<models::GlossaryEntry> glossary;
  std::vector<std::string> kept;
  if (!TakeDntPhrases("f", list, glossary, kept).ok()) return;
  for (const models::GlossaryEntry& entry : glossary)
    kept.insert(kept.end(), {entry.source, entry.target});
  for (const std::string& term : kept)
    Require(!term.empty() && list.find(term) != std::string_view::npos, "invents a term");
}

}  // namespace
}  // namespace millrace::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Requests with other bytes are refused.
  if (!millrace::models::IsValidUtf8(bytes)) return 0;
  const size_t end = std::min(bytes.find('\n'), bytes.size());
  millrace::server::TryDictionary(bytes.substr(0, end), bytes.substr(end));
  millrace::server::TryPhrases(bytes);
  return 0;
}
