#pragma once

#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "models/translation/markup/marked_text.h"
#include "models/translation/markup/restore.h"

namespace millrace::translation {

struct Translation {
  std::string text;
  std::vector<AlignedPiece> pieces;
};

// A translation by hand: words, each with the word of the source that it comes from behind a
// slash; one that has none comes from nowhere in particular, and "+" joins to the word before.
inline Translation ByHand(const MarkedText& source, std::string_view by_hand) {
  std::vector<size_t> places;  // the source's words
  for (size_t at = 0; at < source.text.size(); ++at) {
    if (source.text[at] != ' ' && (at == 0 || source.text[at - 1] == ' ')) places.push_back(at);
  }
  Translation translation;
  std::string& target = translation.text;
  std::istringstream words{std::string(by_hand)};
  for (std::string word; words >> word;) {
    const size_t slash = word.find('/');
    std::string written = word.substr(0, slash);
    const bool joined = written[0] == '+';
    if (joined) written.erase(0, 1);
    const size_t begin = target.size();
    if (!joined && begin > 0) target += ' ';
    target += written;
    translation.pieces.push_back(
        {begin, target.size(), places.at(std::stoul(word.substr(slash + 1)))});
  }
  return translation;
}

inline std::string Restored(const MarkedText& source, std::string_view by_hand) {
  const Translation translation = ByHand(source, by_hand);
  return Restore(source, translation.text, translation.pieces);
}

// Returns true if each tag of `text` closes the one that was opened last.
inline bool WellNested(const std::string& text) {
  std::vector<std::string> open;
  for (size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::string tag = text.substr(at + 1, text.find('>', at) - at - 1);
    if (tag == "img") continue;
    if (tag[0] != '/') {
      open.push_back(tag);
    } else if (open.empty() || open.back() != tag.substr(1)) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return open.empty();
}

}  // namespace millrace::translation
