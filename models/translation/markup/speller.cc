#include "models/translation/markup/speller.h"

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

// Returns true if a spelling means the same character before `next`; 0: it is not known what
// follows.
bool MeansTheSame(std::string_view written, char next) {
  if (written == "<") {
    constexpr std::string_view kBeginsMarkup = "/!?";
    return next != '\0' && !models::IsAsciiLetter(next) &&
           kBeginsMarkup.find(next) == std::string::npos;
  }
  // A bare sign, or an entity without its end.
  if (written.starts_with('&') && !written.ends_with(';'))
    return next != '\0' && !models::IsAsciiAlnum(next) && next != '#' && next != ';';
  return true;
}

}  // namespace

Speller::Speller(const MarkedText& source) : is_html_(source.is_html) {
  for (const Spelling& spelling : source.spellings) {
    const std::string_view character =
        std::string_view(source.text).substr(spelling.begin, spelling.end - spelling.begin);
    written_[character].spellings.push_back(spelling.written);
  }
}

std::string Speller::Spell(std::string_view text) {
  if (written_.empty()) return Escaped(text, is_html_);
  std::string out;
  size_t put = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = models::DecodeAt(text, at).bytes;
    const auto found = written_.find(text.substr(at, bytes));
    if (found != written_.end() && found->second.next < found->second.spellings.size()) {
      const std::string_view spelling = found->second.spellings[found->second.next++];
      if (MeansTheSame(spelling, models::ByteAt(text, at + bytes))) {
        out += Escaped(text.substr(put, at - put), is_html_);
        out += spelling;
        put = at + bytes;
      }
    }
    at += bytes;
  }
  out += Escaped(text.substr(put), is_html_);
  return out;
}

}  // namespace millrace::translation
