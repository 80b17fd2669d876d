#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "models/core/errors.h"
#include "models/text/unicode.h"
#include "nlohmann/json.hpp"
#include "server/documents/document_readers.h"
#include "server/documents/text_document.h"
#include "server/documents/value_document.h"

namespace millrace::server {
namespace {

using nlohmann::json;

// Finds where JSON is not well formed, and builds nothing.
class JsonChecker final : public json::json_sax_t {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(json::number_integer_t) override { return true; }
  bool number_unsigned(json::number_unsigned_t) override { return true; }
  bool number_float(json::number_float_t, const json::string_t&) override { return true; }
  bool string(json::string_t&) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(json::string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string&, const json::exception&) override {
    error_ = position;
    return false;
  }

  size_t error() const { return error_; }

 private:
  size_t error_ = 0;
};

// Returns the end of the string that begins with the quote at `at`.
size_t JsonStringEnd(std::string_view text, size_t at) {
  for (++at; text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
  return at + 1;
}

bool HasLetters(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto [value, bytes] = models::DecodeAt(text, at);
    if (models::IsWordCharacter(value) && (value < '0' || value > '9')) return true;
    at += bytes;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Document>> ReadJson(std::string bytes, const DocumentLimits& limits,
                                                   std::string_view) {
  MILLRACE_ASSIGN_OR_RETURN(std::string mark, TakeByteOrderMark(bytes));
  // The parser takes a NUL for the end of the file and reads nothing behind it.
  JsonChecker checker;
  if (const size_t nul = bytes.find('\0');
      nul != std::string::npos || !json::sax_parse(bytes, &checker)) {
    return InvalidArgument("file: is not valid JSON: there is an error at byte ",
                           nul != std::string::npos ? nul + 1 : checker.error());
  }
  // A file that escapes all characters beyond ASCII goes on doing so.
  const bool is_ascii =
      bytes.find("\\u") != std::string::npos &&
      std::ranges::all_of(bytes, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  auto document = std::make_unique<ValueDocument>(
      [is_ascii](std::string_view translation) {
        return json(translation).dump(-1, ' ', is_ascii, json::error_handler_t::replace);
      },
      limits);
  document->Keep(mark);
  const std::string_view text = bytes;
  size_t depth = 0;
  bool in_metadata = false;
  size_t metadata = 0;  // the depth of a key whose value is not text of the program
  for (size_t at = 0; at < text.size() && !document->is_full();) {
    const char c = text[at];
    if (c != '"') {
      const bool ends = c == '}' || c == ']';
      if (ends) --depth;
      if (depth < metadata || (c == ',' && depth == metadata)) in_metadata = false;
      if (c == '{' || c == '[') ++depth;
      document->Keep(text.substr(at++, 1));
      continue;
    }
    const size_t end = JsonStringEnd(text, at);
    const std::string_view source = text.substr(at, end - at);
    const size_t next = text.find_first_not_of(" \t\r\n", end);
    const bool is_key = next != std::string_view::npos && text[next] == ':';
    at = end;
    if (is_key && !in_metadata && (source[1] == '@' || source[1] == '$')) {
      in_metadata = true;
      metadata = depth;
    }
    if (is_key || in_metadata) {
      document->Keep(source);
      continue;
    }
    std::string value = json::parse(source).get<std::string>();
    HasLetters(value) ? document->Add(std::move(value), source) : document->Keep(source);
  }
  return document;
}

}  // namespace millrace::server
