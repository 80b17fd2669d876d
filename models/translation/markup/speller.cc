#include "models/translation/markup/speller.h"

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

// Returns true if a spelling means the same character before `next`, which is 0 if unknown.
bool MeansTheSame(std::string_view written, char next) {
  if (written == "<") {
    constexpr std::string_view kBeginsMarkup = "/!?";
    return next != '\0' && !models::IsAsciiLetter(next) &&
           kBeginsMarkup.find(next) == std::string::npos;
  }
  // This is a bare sign, or an entity without its semicolon.
  if (written.starts_with('&') && !written.ends_with(';'))
    return next != '\0' && !models::IsAsciiAlnum(next) && next != '#' && next != ';';
  return true;
}

}  // namespace

Speller::Speller(const MarkedText& source) {
  for (const Spelling& spelling : source.spellings) {
    const std::string_view character =
        std::string_view(source.text).substr(spelling.begin, spelling.end - spelling.begin);
    written_[character].spellings.push_back(spelling.written);
  }
}

std::vector<Spelling> Speller::Spell(std::string_view text) {
  std::vector<Spelling> spellings;
  if (written_.empty()) return spellings;
  for (size_t at = 0; at < text.size();) {
    const size_t end = at + models::DecodeAt(text, at).bytes;
    const auto found = written_.find(text.substr(at, end - at));
    if (found != written_.end() && found->second.next < found->second.spellings.size()) {
      const std::string_view written = found->second.spellings[found->second.next++];
      if (MeansTheSame(written, models::ByteAt(text, end)))
        spellings.push_back({at, end, std::string(written)});
    }
    at = end;
  }
  return spellings;
}

}  // namespace millrace::translation
