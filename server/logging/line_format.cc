#include "server/logging/line_format.h"

#include <charconv>
#include <cmath>
#include <type_traits>

#include "models/text/unicode.h"

namespace millrace::logging {
namespace {

// Escapes as in JSON strings; the text format uses the same escapes, so that a line stays a line.
// Quotes and backslashes are escaped only when the text is in quotes.
void AppendEscaped(std::string& out, std::string_view text, bool quoted) {
  constexpr char kDigits[] = "0123456789abcdef";
  while (!text.empty()) {
    const auto [c, bytes] = models::DecodeAt(text, 0);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || (c >= 0x7f && c < 0xa0)) {
      // U+0080..U+009F are control characters too, and some terminals obey them.
      out += {'\\', 'u', '0', '0', kDigits[c >> 4], kDigits[c & 15]};
    } else if (quoted && (c == '"' || c == '\\')) {
      out += {'\\', static_cast<char>(c)};
    } else if (c == 0xfffd) {
      out += "\xef\xbf\xbd";  // the same stands for bytes that are not UTF-8
    } else {
      out.append(text.substr(0, bytes));
    }
    text.remove_prefix(bytes);
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
