#include "models/text/english/angle_reader.h"

#include <string>

#include "models/text/ascii.h"
#include "models/text/english/compass.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxDigits = 3;
constexpr uint64_t kParts = 60;  // minutes of a degree, and seconds of a minute
constexpr uint64_t kInchesOfFoot = 12;

// Returns the bytes of the first of the marks that stands at `at`; 0 if none does.
size_t MarkBytes(std::string_view text, size_t at, std::string_view plain,
                 std::string_view typographic) {
  if (text.substr(at).starts_with(plain)) return plain.size();
  return text.substr(at).starts_with(typographic) ? typographic.size() : 0;
}

size_t SkipSpace(std::string_view text, size_t at) {
  return at + (ByteAt(text, at) == ' ' ? 1 : 0);
}

// A part of an angle: its whole number, and where it and its decimals end.
struct Part {
  size_t begin = 0;
  size_t whole_end = 0;
  size_t end = 0;

  uint64_t Value(std::string_view text) const {
    return ParseDigits(text.substr(begin, whole_end - begin));
  }
};

std::optional<Part> ParsePart(std::string_view text, size_t at) {
  Part part{at, DigitsEnd(text, at, kMaxDigits + 1), 0};
  if (part.whole_end == at || part.whole_end - at > kMaxDigits) return std::nullopt;
  part.end = part.whole_end;
  if (ByteAt(text, part.end) == '.' && IsAsciiDigit(ByteAt(text, part.end + 1)))
    part.end = DigitsEnd(text, part.end + 1);
  return part;
}

void AppendPart(const NumberWords& numbers, std::string_view text, const Part& part,
                std::string_view name, Reading& reading) {
  reading.Append(numbers.Cardinal(part.Value(text)));
  if (part.end > part.whole_end) {
    reading.Append("point");
    reading.Append(numbers.Digits(text.substr(part.whole_end + 1, part.end - part.whole_end - 1)));
  }
  const bool one = part.end == part.whole_end && part.Value(text) == 1;
  reading.Append(std::string(name) + (one ? "" : "s"));
}

}  // namespace

std::optional<Reading> ReadAngle(const NumberWords& numbers, std::string_view text, size_t at) {
  constexpr std::string_view kDegree = "°";
  const auto first = ParsePart(text, at);
  if (!first) return std::nullopt;
  const bool has_degrees = text.substr(first->end).starts_with(kDegree);
  const auto minutes =
      has_degrees ? ParsePart(text, SkipSpace(text, first->end + kDegree.size())) : first;
  if (!minutes || minutes->Value(text) >= kParts) return std::nullopt;
  const size_t minute_mark = MarkBytes(text, minutes->end, "'", "’");
  if (minute_mark == 0) return std::nullopt;
  Reading reading{minutes->end + minute_mark, {}};
  const auto seconds = ParsePart(text, SkipSpace(text, reading.end));
  const size_t second_mark = seconds ? MarkBytes(text, seconds->end, "\"", "”") : 0;
  const bool has_seconds = second_mark > 0 && seconds->Value(text) < kParts;
  const bool is_height = !has_seconds || seconds->Value(text) < kInchesOfFoot;
  if (!has_degrees && is_height) return std::nullopt;
  if (has_degrees) AppendPart(numbers, text, *first, "degree", reading);
  AppendPart(numbers, text, *minutes, "minute", reading);
  if (has_seconds) {
    AppendPart(numbers, text, *seconds, "second", reading);
    reading.end = seconds->end + second_mark;
  }
  TakeLetterBehindDegrees(text, /*scales=*/false, reading);
  return reading;
}

}  // namespace millrace::models
