#include "models/speech/marked_reading.h"

#include <algorithm>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/speech/speech_units.h"
#include "models/text/text_place.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"

namespace millrace::speech {
namespace {

constexpr std::string_view kPlainMarks = ",.;:!?";

using Readings = std::span<const models::SpeechReading>;

// Returns the readings that end behind the byte.
Readings From(Readings readings, size_t byte) {
  const auto first = std::ranges::upper_bound(readings, byte, {}, &models::SpeechReading::end);
  return readings.subspan(static_cast<size_t>(first - readings.begin()));
}

// Puts the pieces of a unit together.
class Joined {
 public:
  // Adds what stands at `offset` of the unit.
  void Add(const models::PhonemeText& piece, size_t offset, bool spaced) {
    if (piece.phonemes.empty()) return;
    if (spaced && !text_.phonemes.empty() && !text_.phonemes.ends_with(' ')) text_.phonemes += ' ';
    const size_t at = text_.phonemes.size();
    text_.phonemes += piece.phonemes;
    for (models::PhonemeWord word : piece.words) {
      word.begin += offset;
      word.end += offset;
      word.phonemes_begin += at;
      word.phonemes_end += at;
      text_.words.push_back(word);
    }
  }
  void AddMarks(std::string_view marks) { text_.phonemes += marks; }
  models::PhonemeText Take() { return std::move(text_); }

 private:
  models::PhonemeText text_;
};

// Reads the text between two pronunciations. behind: it follows one.
absl::Status AddPlain(std::string_view plain, size_t offset, bool behind, std::string_view language,
                      bool with_words, const SpeechReader& reader, Joined& joined) {
  if (behind) {
    // A front end drops marks that no word stands before.
    const size_t marks = std::min(plain.find_first_not_of(kPlainMarks), plain.size());
    for (const char mark : plain.substr(0, marks)) {
      const std::string_view symbol(&mark, 1);
      if (!reader.ToIds(symbol).symbols.empty()) joined.AddMarks(symbol);
    }
    plain.remove_prefix(marks);
    offset += marks;
  }
  if (!HasLetterOrDigit(plain)) return absl::OkStatus();
  const std::string_view text = models::TrimLeft(plain);
  auto read = reader.ToPhonemes(text, language, with_words);
  const size_t space = plain.size() - text.size();
  if (!read.ok()) return models::MovedBy(read.status(), offset + space);
  joined.Add(*read, offset + space, space > 0);
  return absl::OkStatus();
}

}  // namespace

std::string PhonemesOf(const models::SpeechReading& reading, const SpeechReader& reader) {
  return reading.is_ipa ? reader.FromIpa(reading.phonemes) : reading.phonemes;
}

absl::StatusOr<models::PhonemeText> ReadMarked(std::string_view unit, size_t begin,
                                               Readings readings, std::string_view language,
                                               bool with_words, const SpeechReader& reader) {
  const size_t end = begin + unit.size();
  Joined joined;
  size_t plain = 0;  // where the text begins that was not read yet
  bool behind = false;
  for (const models::SpeechReading& reading : From(readings, begin)) {
    if (reading.begin >= end) break;
    if (reading.phonemes.empty()) continue;
    // The rest of a reading that an earlier unit spoke is left out.
    const size_t at = reading.begin < begin ? 0 : reading.begin - begin;
    const std::string_view before = unit.substr(plain, at - plain);
    MILLRACE_RETURN_IF_ERROR(AddPlain(before, plain, behind, language, with_words, reader, joined));
    plain = std::min(reading.end - begin, unit.size());
    behind = true;
    if (reading.begin < begin) continue;
    models::PhonemeText spoken{PhonemesOf(reading, reader), {}};
    if (with_words) spoken.words = {{0, plain - at, 0, spoken.phonemes.size()}};
    joined.Add(spoken, at, models::TrimRight(unit.substr(0, at)).size() < at);
  }
  if (!behind) return reader.ToPhonemes(unit, language, with_words);
  if (absl::Status status =
          AddPlain(unit.substr(plain), plain, behind, language, with_words, reader, joined);
      !status.ok())
    return status;
  return joined.Take();
}

absl::Status AtSource(const absl::Status& error, size_t begin,
                      const models::SynthesizeInput& input) {
  absl::Status moved = models::MovedBy(error, begin);
  const auto byte = models::ByteOf(moved);
  if (!byte || input.markup.anchors.empty()) return moved;
  return models::WithPlace(moved, StrCat("character ", CharactersBefore(*byte, input)));
}

size_t CharactersBefore(size_t byte, const models::SynthesizeInput& input, size_t from,
                        size_t characters) {
  const std::vector<models::SpeechAnchor>& anchors = input.markup.anchors;
  const auto behind = std::ranges::upper_bound(anchors, byte, {}, &models::SpeechAnchor::byte);
  if (behind != anchors.begin() && ((behind - 1)->byte >= from || byte < from)) {
    from = (behind - 1)->byte;
    characters = (behind - 1)->character;
  }
  return characters +
         models::CountCodePoints(std::string_view(input.text).substr(from, byte - from));
}

std::vector<WrittenSpan> WrittenSpans(std::string_view unit, size_t begin,
                                      std::span<const models::PhonemeWord> words,
                                      Readings readings) {
  std::vector<WrittenSpan> spans;
  size_t last_end = begin;  // the end of the last span, in the whole text
  readings = From(readings, begin);
  for (const models::PhonemeWord& word : words) {
    size_t from = begin + word.begin;
    size_t to = begin + word.end;
    if (!spans.empty() && from < last_end) {
      // Further words of a reading.
      spans.back().phonemes_end = word.phonemes_end;
      continue;
    }
    while (!readings.empty() && readings.front().end <= from) readings = readings.subspan(1);
    std::string written;
    size_t first = from;
    size_t at = from;
    for (const models::SpeechReading& reading : readings) {
      if (reading.begin >= to) break;
      const size_t reading_begin = std::max(reading.begin, begin);
      if (reading_begin < from) from = at = reading_begin;
      first = std::min({first, from, reading.begin});
      written += unit.substr(at - begin, reading_begin - at);
      written += reading.written;
      at = std::min(reading.end, begin + unit.size());
      to = std::max(to, at);
    }
    written += unit.substr(at - begin, to - at);
    spans.push_back({std::move(written), first, word.phonemes_begin, word.phonemes_end});
    last_end = to;
  }
  return spans;
}

}  // namespace millrace::speech
