#include "server/reference/roff.h"

namespace millrace::reference {

std::string Roff(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out +=
          "\\-";  // a plain one may become a typographic hyphen, which nobody can copy into a shell
    } else {
      out += c;
    }
    line_begins = c == '\n';
  }
  return out;
}

std::string InFont(char font, const std::string& text) {
  return std::string("\\f") + font + Roff(text) + "\\fR";
}

std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : Roff(text)) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace millrace::reference
