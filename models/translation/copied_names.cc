#include "models/translation/copied_names.h"

#include <algorithm>

#include "models/text/ascii.h"

namespace millrace::translation {
namespace {

// Returns true if a word between spaces, without the marks around it, is such a name.
bool IsCopiedName(std::string_view word) {
  constexpr std::string_view kSigns = "+#=<>^~\\|@_";
  constexpr size_t kFewestBesideStop = 2;  // letters; e.g. has fewer
  if (word.size() < 2 || !models::IsAsciiLetter(word[0])) return false;
  const bool is_ascii =
      std::ranges::all_of(word, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (!is_ascii || word.find('\'') != std::string_view::npos) return false;
  if (word.find_first_of(kSigns) != std::string_view::npos) return true;
  for (size_t at = 1; at < word.size(); ++at) {
    const char before = word[at - 1];
    const char c = word[at];
    if (models::IsAsciiLower(before) && models::IsAsciiUpper(c)) return true;
    if (models::IsAsciiLetter(before) && models::IsAsciiDigit(c)) return true;
    if (c == '.' && at >= kFewestBesideStop && models::IsAsciiLetter(before) &&
        models::LettersEnd(word, at + 1) >= at + 1 + kFewestBesideStop &&
        models::IsAsciiLower(word[at + 1]))
      return true;
  }
  return false;
}

}  // namespace

std::vector<std::string_view> CopiedNames(std::string_view text) {
  constexpr std::string_view kMarks = ".,;:!?\"'()[]{}*";
  std::vector<std::string_view> names;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \n", at), text.size());
    std::string_view word = text.substr(at, end - at);
    word.remove_prefix(std::min(word.find_first_not_of(kMarks), word.size()));
    word = word.substr(0, word.find_last_not_of(kMarks) + 1);
    if (IsCopiedName(word)) names.push_back(word);
    at = end + 1;
  }
  return names;
}

std::vector<std::string_view> LostNames(std::string_view source, std::string_view target) {
  std::vector<std::string_view> names = CopiedNames(source);
  std::erase_if(names, [target](std::string_view name) {
    return target.find(name) != std::string_view::npos;
  });
  return names;
}

}  // namespace millrace::translation
