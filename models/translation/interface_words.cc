#include "models/translation/interface_words.h"

#include <algorithm>
#include <string>
#include <vector>

#include "models/core/embedded_table.h"
#include "models/core/strings.h"
#include "models/text/ascii.h"
#include "models/text/unicode.h"
#include "models/translation/interface_words_text.h"

namespace millrace::translation {
namespace {

constexpr size_t kLongest = 64;  // bytes of a text
constexpr char kSlot = '@';      // stands for a number or a kept span in a row
constexpr size_t kFields = 3;    // the text in small letters, the languages, the translation

// Returns the end of a number with the signs between its digits: 10, 2.0.1, 9:30; `at` if none
// begins there.
size_t NumberEnd(std::string_view text, size_t at) {
  constexpr std::string_view kJoints = ".,:";
  size_t end = models::DigitsEnd(text, at);
  while (end > at && kJoints.find(models::ByteAt(text, end)) != std::string_view::npos &&
         models::DigitsEnd(text, end + 1) > end + 1)
    end = models::DigitsEnd(text, end + 1);
  return end;
}

std::string_view FirstTag(std::string_view language) {
  return language.substr(0, language.find_first_of("-_"));
}

}  // namespace

std::string_view WithoutEndMarks(std::string_view text) {
  constexpr std::string_view kMarks = ".!?:";
  return text.substr(0, text.find_last_not_of(kMarks) + 1);
}

std::string_view InterfaceWords(std::string_view text, std::string_view source_language,
                                std::string_view target_language) {
  if (text.size() > kLongest) return {};
  static const auto& table =
      *new models::WordTable<kFields>(kInterfaceWordsText);  // never destroyed: threads may use it
  std::string small;
  for (size_t at = 0; at < text.size();) {
    const models::CodePoint c = models::DecodeAt(text, at);
    small += models::EncodeUtf8(models::ToLower(c.value));
    at += c.bytes;
  }
  const auto rows = table.FindAll(small);
  if (rows.empty()) return {};
  const std::string languages =
      models::AsciiLower(StrCat(FirstTag(source_language), "-", FirstTag(target_language)));
  for (const auto& [word, direction, translation] : rows) {
    if (direction != languages) continue;
    const bool is_of_interfaces = models::IsUpper(models::DecodeAt(translation, 0).value);
    if (!is_of_interfaces || models::IsUpper(models::DecodeAt(text, 0).value)) return translation;
  }
  return {};
}

std::string InterfacePhrase(const MarkedText& source, std::string_view source_language,
                            std::string_view target_language) {
  const std::string_view text = WithoutEndMarks(source.text);
  if (text.size() > kLongest || !source.events.empty() || !source.spellings.empty()) return {};
  std::string phrase;
  std::vector<std::string_view> slots;
  auto kept = source.kept.begin();
  for (size_t at = 0; at < text.size();) {
    const bool is_kept = kept != source.kept.end() && kept->begin == at;
    if (is_kept && kept->reads) return {};
    const size_t end = is_kept ? (kept++)->end : NumberEnd(text, at);
    if (end == at) {
      phrase += text[at++];
      continue;
    }
    slots.push_back(text.substr(at, end - at));
    phrase += kSlot;
    at = end;
  }
  const std::string_view known = InterfaceWords(phrase, source_language, target_language);
  if (static_cast<size_t>(std::ranges::count(known, kSlot)) != slots.size()) return {};
  std::string translation;
  auto slot = slots.begin();
  for (const char c : known) c == kSlot ? translation += * slot++ : translation += c;
  return translation;
}

}  // namespace millrace::translation
