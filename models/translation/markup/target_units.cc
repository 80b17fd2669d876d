#include "models/translation/markup/target_units.h"

#include <string>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

// Returns the range without white space at its ends.
std::pair<size_t, size_t> Trimmed(std::string_view text, size_t begin, size_t end) {
  while (begin < end && models::IsSpace(models::DecodeAt(text, begin).value))
    begin += models::DecodeAt(text, begin).bytes;
  while (begin < end && models::IsSpace(models::DecodeBefore(text, end).value))
    end -= models::DecodeBefore(text, end).bytes;
  return {begin, end};
}

// Returns true if one of the endings of English verbs and names is at an apostrophe: it's, don't.
bool IsEndingAt(std::string_view text, size_t apostrophe) {
  constexpr std::string_view kEndings = " s t d m re ve ll ";
  if (models::ByteAt(text, apostrophe) != '\'' || apostrophe == 0 ||
      !models::IsLetter(models::DecodeBefore(text, apostrophe).value))
    return false;
  const size_t end = models::LettersEnd(text, apostrophe + 1);
  const std::string ending(text.substr(apostrophe + 1, end - apostrophe - 1));
  return !ending.empty() && kEndings.find(" " + ending + " ") != std::string_view::npos &&
         !models::IsWordCharacter(models::DecodeAt(text, end).value);
}

// Returns true if a word continues across `at`. Letters and digits are separate words:
// H<sub>2</sub>O. A percentage is one: 10%.
bool WithinWord(std::string_view text, size_t at) {
  if (at == 0 || at >= text.size()) return false;
  if (IsEndingAt(text, at) || IsEndingAt(text, at - 1)) return true;
  const char32_t before = models::DecodeBefore(text, at).value;
  const char32_t behind = models::DecodeAt(text, at).value;
  if (models::IsDigit(before) && behind == '%') return true;
  return models::IsWordCharacter(before) && models::IsWordCharacter(behind) &&
         models::IsDigit(before) == models::IsDigit(behind);
}

// Makes a piece of each word or sign, and aligns it with the proportional position in the source.
std::vector<AlignedPiece> GuessPieces(std::string_view target, size_t source_bytes) {
  std::vector<AlignedPiece> pieces;
  for (size_t at = 0; at < target.size();) {
    const size_t begin = at;
    at += models::DecodeAt(target, at).bytes;
    while (WithinWord(target, at)) at += models::DecodeAt(target, at).bytes;
    const auto place = static_cast<double>(begin) / static_cast<double>(target.size());
    pieces.push_back({begin, at, static_cast<size_t>(place * static_cast<double>(source_bytes))});
  }
  return pieces;
}

}  // namespace

std::vector<TargetUnit> FindUnits(std::string_view target, std::span<const AlignedPiece> pieces,
                                  size_t source_bytes) {
  std::vector<AlignedPiece> guessed;
  if (pieces.empty()) {
    guessed = GuessPieces(target, source_bytes);
    pieces = guessed;
  }
  std::vector<TargetUnit> units;
  for (const AlignedPiece& piece : pieces) {
    const auto [begin, end] = Trimmed(target, piece.begin, piece.end);
    // A piece may be a word and the sign after it.
    for (size_t at = begin; at < end;) {
      const size_t first = at;
      const bool is_word = models::IsWordCharacter(models::DecodeAt(target, at).value);
      do {
        at += models::DecodeAt(target, at).bytes;
      } while (at < end &&
               (is_word ? WithinWord(target, at)
                        : !models::IsWordCharacter(models::DecodeAt(target, at).value)));
      if (units.empty() || units.back().end != first || !WithinWord(target, first))
        units.push_back({first, at, {}});
      units.back().end = at;
      units.back().sources.push_back(piece.source);
    }
  }
  return units;
}

}  // namespace millrace::translation
