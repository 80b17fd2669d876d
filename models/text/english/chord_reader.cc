#include "models/text/english/chord_reader.h"

#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/letter_word.h"
#include "models/text/english/one_of.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {
namespace {

// A sign of a half-tone, and its bytes.
struct HalfTone {
  std::string_view name;
  size_t bytes = 0;
};

HalfTone FindHalfTone(std::string_view text, size_t at) {
  const std::string_view rest = at < text.size() ? text.substr(at) : "";
  if (rest.starts_with('b')) return {"flat", 1};
  if (rest.starts_with('#')) return {"sharp", 1};
  if (rest.starts_with("♭")) return {"flat", 3};
  if (rest.starts_with("♯")) return {"sharp", 3};
  return {};
}

// Takes a degree of the scale, such as 7 or 11, at the end of the reading.
bool TakeDegree(const NumberWords& numbers, std::string_view text, Reading& reading, size_t at) {
  const size_t end = DigitsEnd(text, at, 3);
  if (!IsOneOf(text.substr(at, end - at), "2", "4", "5", "6", "7", "9", "11", "13")) return false;
  reading.Append(numbers.Whole(text.substr(at, end - at)));
  reading.end = end;
  return true;
}

// Returns true if a word of music is behind a note that ends there: "Bb major", "Eb clarinet".
bool MusicFollows(std::string_view text, size_t at) {
  return ByteAt(text, at) == ' ' && IsOfKind(LettersAt(text, at + 1), "behind-note");
}

}  // namespace

std::optional<Reading> ReadChord(const NumberWords& numbers, std::string_view text, size_t at) {
  const char root = ByteAt(text, at);
  if (root < 'A' || root > 'G') return std::nullopt;
  Reading reading{at + 1, {Dotted(text.substr(at, 1))}};
  const auto take_half_tone = [&] {
    const HalfTone half = FindHalfTone(text, reading.end);
    if (half.bytes == 0) return false;
    reading.Append(half.name);
    reading.end += half.bytes;
    return true;
  };
  const bool altered = take_half_tone();
  if (altered && !IsAsciiAlnum(ByteAt(text, reading.end)) && MusicFollows(text, reading.end))
    return reading;
  size_t kind_letters = 0;
  for (const size_t letters : {3U, 1U}) {
    const auto spoken = FindSpoken(text.substr(reading.end, letters), "chord");
    if (!spoken) continue;
    reading.Append(*spoken);
    reading.end += letters;
    kind_letters = letters;
    break;
  }
  const size_t degree_at = reading.end;
  const bool degree = TakeDegree(numbers, text, reading, degree_at);
  bool tensions = false;
  while (true) {
    const HalfTone half = FindHalfTone(text, reading.end);
    Reading tension{reading.end, {}};
    if (half.bytes == 0 || !TakeDegree(numbers, text, tension, reading.end + half.bytes)) break;
    reading.Append(half.name);
    reading.Append(std::move(tension.words));
    reading.end = tension.end;
    tensions = true;
  }
  if (text.substr(reading.end).starts_with("sus") &&
      TakeDegree(numbers, text, reading, reading.end + 3))
    reading.words.insert(reading.words.end() - 1, "suspended");
  bool bass = false;
  if (ByteAt(text, reading.end) == '/' && ByteAt(text, reading.end + 1) >= 'A' &&
      ByteAt(text, reading.end + 1) <= 'G') {
    bass = true;
    reading.Append("over");
    reading.Append(Dotted(text.substr(reading.end + 1, 1)));
    reading.end += 2;
    take_half_tone();
  }
  if (IsAsciiAlnum(ByteAt(text, reading.end))) return std::nullopt;
  // "B2" is a vitamin and "Ab5" a code, but "Bb7" and "Am7" are chords.
  const bool seventh =
      degree && text[degree_at] != '2' && text[degree_at] != '4' && text[degree_at] != '5';
  const bool sure = tensions || (altered && (kind_letters > 0 || seventh || bass)) ||
                    (kind_letters > 1 && degree) || (kind_letters == 1 && seventh);
  return sure ? std::optional(std::move(reading)) : std::nullopt;
}

}  // namespace millrace::models
