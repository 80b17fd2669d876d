#include "models/text/text_place.h"

#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "models/core/errors.h"
#include "models/core/strings.h"

namespace millrace::models {
namespace {

// The byte, and where the message names it: "<byte> <first> <last>".
constexpr char kPlacePayload[] = "millrace/text-place";

struct Place {
  size_t byte = 0;
  size_t begin = 0;  // the place in the message of the words that name it
  size_t end = 0;
};

std::optional<Place> PlaceIn(const absl::Status& error) {
  const auto payload = error.GetPayload(kPlacePayload);
  if (!payload) return std::nullopt;
  const std::string text(*payload);
  const std::pair<absl::string_view, absl::string_view> byte_and_rest =
      absl::StrSplit(text, absl::MaxSplits(' ', 1));
  const std::pair<absl::string_view, absl::string_view> words =
      absl::StrSplit(byte_and_rest.second, ' ');
  Place place;
  if (!absl::SimpleAtoi(byte_and_rest.first, &place.byte) ||
      !absl::SimpleAtoi(words.first, &place.begin) || !absl::SimpleAtoi(words.second, &place.end))
    return std::nullopt;
  return place;
}

absl::Status Make(std::string_view before, std::string_view named, size_t byte,
                  std::string_view behind) {
  absl::Status error = InvalidArgument(before, named, behind);
  error.SetPayload(kPlacePayload,
                   absl::Cord(StrCat(byte, " ", before.size(), " ", before.size() + named.size())));
  return error;
}

absl::Status Renamed(const absl::Status& error, const Place& place, std::string_view named,
                     size_t byte) {
  const std::string message(error.message());
  return Make(std::string_view(message).substr(0, place.begin), named, byte,
              std::string_view(message).substr(place.end));
}

}  // namespace

absl::Status InvalidAt(std::string_view before, size_t byte, std::string_view behind) {
  return Make(before, StrCat("byte ", byte), byte, behind);
}

std::optional<size_t> ByteOf(const absl::Status& error) {
  const auto place = PlaceIn(error);
  return place ? std::optional(place->byte) : std::nullopt;
}

absl::Status MovedBy(const absl::Status& error, size_t bytes) {
  const auto place = PlaceIn(error);
  if (!place) return error;
  const size_t byte = place->byte + bytes;
  return Renamed(error, *place, StrCat("byte ", byte), byte);
}

absl::Status WithPlace(const absl::Status& error, std::string_view place) {
  const auto before = PlaceIn(error);
  return before ? Renamed(error, *before, place, before->byte) : error;
}

}  // namespace millrace::models
