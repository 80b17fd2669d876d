#include "models/text/english/bible_reference.h"

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/bible_books_text.h"
#include "models/text/english/one_of.h"

namespace millrace::models {
namespace {

// Appends the number that begins at the end of the reading; returns false if there is none.
bool AppendNumber(const NumberWords& numbers, std::string_view text, Reading& reading) {
  constexpr size_t kMaxDigits = 3;
  const size_t end = DigitsEnd(text, reading.end, kMaxDigits + 1);
  if (end == reading.end || end - reading.end > kMaxDigits) return false;
  reading.Append(numbers.Cardinal(ParseDigits(text.substr(reading.end, end - reading.end))));
  reading.end = end;
  return true;
}

}  // namespace

std::optional<Reading> ReadBibleReference(const NumberWords& numbers, std::string_view text,
                                          size_t at) {
  constexpr size_t kMaxName = 13;
  const char first = ByteAt(text, at);
  // "1 Kings", "II Kings".
  const size_t numeral = first == 'I' ? LettersEnd(text, at, 4) - at : 1;
  const bool roman =
      first == 'I' && text.substr(at, numeral) == std::string_view("III").substr(0, numeral);
  const bool numbered =
      ((first >= '1' && first <= '3') || roman) && ByteAt(text, at + numeral) == ' ';
  const size_t name = at + (numbered ? numeral + 1 : 0);
  if (!IsAsciiUpper(ByteAt(text, name))) return std::nullopt;
  const size_t name_end = LettersEnd(text, name, kMaxName + 1);
  Reading reading{name_end + (ByteAt(text, name_end) == '.' ? 1 : 0), {}};
  if (ByteAt(text, reading.end) != ' ' || !IsAsciiDigit(ByteAt(text, reading.end + 1)))
    return std::nullopt;
  const std::string_view written = text.substr(name, name_end - name);
  static const WordTable<2> books(kBibleBooksText);
  const auto* const book = books.Find(written);
  if (book == nullptr) return std::nullopt;
  if (numbered) {
    const char number = roman ? static_cast<char>('0' + numeral) : first;
    reading.Append(number == '1' ? "First" : number == '2' ? "Second" : "Third");
  }
  reading.Append(book->back().empty() ? written : book->back());
  ++reading.end;
  if (!AppendNumber(numbers, text, reading)) return std::nullopt;
  if (ByteAt(text, reading.end) != ':') {
    // "2 Samuel 7", but "James 5" may be a player.
    const bool sure = !numbered && IsListed(written, "Deut Eccl Exod Ezek Isa Jer Lev Neh Ps Zech");
    const bool chapter = (numbered || sure) && !IsAsciiAlnum(ByteAt(text, reading.end));
    return chapter ? std::optional(reading) : std::nullopt;
  }
  const bool tens = text[reading.end - 1] == '0' && reading.words.back() != "ten";
  ++reading.end;
  const size_t verses = reading.words.size();
  if (!AppendNumber(numbers, text, reading)) return std::nullopt;
  // "Twenty verse three" is not the chapter twenty-three.
  const bool sums = tens && text[reading.end - 2] == ':';
  const size_t dash = ByteAt(text, reading.end) == '-'            ? 1
                      : text.substr(reading.end).starts_with("–") ? 3
                                                                  : 0;
  if (dash > 0 && IsAsciiDigit(ByteAt(text, reading.end + dash))) {
    reading.Append("to");
    reading.end += dash;
    if (!AppendNumber(numbers, text, reading)) return std::nullopt;
    // "1:1-2:3" goes on in the next chapter.
    if (ByteAt(text, reading.end) == ':' && IsAsciiDigit(ByteAt(text, reading.end + 1))) {
      ++reading.end;
      if (!AppendNumber(numbers, text, reading)) return std::nullopt;
    } else {
      reading.words.insert(reading.words.begin() + static_cast<ptrdiff_t>(verses), "verses");
    }
  } else if (sums) {
    reading.words.insert(reading.words.begin() + static_cast<ptrdiff_t>(verses), "verse");
  }
  return IsAsciiAlnum(ByteAt(text, reading.end)) ? std::nullopt : std::optional(reading);
}

}  // namespace millrace::models
