#include "server/logging/line_format.h"

#include <charconv>
#include <cmath>
#include <type_traits>

namespace millrace::logging {
namespace {

// Returns the length of the valid UTF-8 sequence at the start of the text; 0 when it is invalid.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (first >= 0xc2 && first <= 0xdf) {
    length = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    length = 3;
    if (first == 0xe0) low = 0xa0;   // excludes overlong forms
    if (first == 0xed) high = 0x9f;  // excludes surrogates
  } else if (first >= 0xf0 && first <= 0xf4) {
    length = 4;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;  // excludes code points beyond U+10FFFF
  }
  if (length == 0 || text.size() < length || byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  return length;
}

// Escapes as in JSON strings; the text format uses the same escapes, so that a line stays a line.
// Quotes and backslashes are escaped only when the text is in quotes.
void AppendEscaped(std::string& out, std::string_view text, bool quoted) {
  constexpr char kDigits[] = "0123456789abcdef";
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      out += "\xef\xbf\xbd";  // U+FFFD
    } else if (length > 1) {
      // U+0080..U+009F are control characters too, and some terminals obey them.
      const auto second = static_cast<unsigned char>(text[1]);
      if (c == 0xc2 && second < 0xa0) {
        out += {'\\', 'u', '0', '0', kDigits[second >> 4], kDigits[second & 15]};
      } else {
        out.append(text.substr(0, length));
      }
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7f) {
      out += {'\\', 'u', '0', '0', kDigits[c >> 4], kDigits[c & 15]};
    } else if (quoted && (c == '"' || c == '\\')) {
      out += {'\\', static_cast<char>(c)};
    } else {
      out += static_cast<char>(c);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

template <class T>
void AppendNumber(std::string& out, T value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  out.append(buffer, result.ptr);
}

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  AppendEscaped(out, text, true);
  out += '"';
}

bool IsBare(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (c <= ' ' || c >= 0x7f || c == '"' || c == '=' || c == '\\') return false;
  }
  return true;
}

void AppendValue(std::string& out, const Value& value, bool json) {
  std::visit(
      [&](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, bool>) {
          out += v ? "true" : "false";
        } else if constexpr (std::is_same_v<T, double>) {
          // JSON cannot express these values.
          if (json && !std::isfinite(v)) {
            out += "null";
          } else {
            AppendNumber(out, v);
          }
        } else if constexpr (std::is_same_v<T, std::string_view>) {
          if (!json && IsBare(v)) {
            out += v;
          } else {
            AppendQuoted(out, v);
          }
        } else {
          AppendNumber(out, v);
        }
      },
      value);
}

}  // namespace

std::string RenderJson(std::string_view message, Fields fields) {
  std::string out = "\"message\":";
  out.reserve(32 + message.size() + 32 * fields.size());
  AppendQuoted(out, message);
  for (const Field& field : fields) {
    out += ',';
    AppendQuoted(out, field.key);
    out += ':';
    AppendValue(out, field.value, true);
  }
  return out;
}

std::string RenderText(std::string_view message, Fields fields) {
  std::string out;
  out.reserve(16 + message.size() + 32 * fields.size());
  AppendEscaped(out, message, false);
  for (const Field& field : fields) {
    out += ' ';
    AppendEscaped(out, field.key, false);
    out += '=';
    AppendValue(out, field.value, false);
  }
  return out;
}

}  // namespace millrace::logging
