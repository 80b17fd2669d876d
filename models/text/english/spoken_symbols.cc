#include "models/text/english/spoken_symbols.h"

namespace millrace::models {

std::string_view PauseMark(char32_t c, bool opens) {
  switch (c) {
    case ';':
    case 0xFF1B:
      return ";";
    case ':':
    case 0xFF1A:
      return ":";
    case ',':
    case 0x3001:
    case 0xFF0C:
      return ",";
    case '.':
    case 0x3002:
      return ".";
    case '!':
    case 0xA1:
    case 0xFF01:
      return "!";
    case '?':
    case 0xBF:
    case 0xFF1F:
      return "?";
    case 0x2013:
    case 0x2014:
    case 0x2015:
      return "—";
    case 0x2026:
      return "…";
    case '(':
    case '[':
    case '{':
      return "(";
    case ')':
    case ']':
    case '}':
      return ")";
    case '"':
      return opens ? "“" : "”";
    case 0x201C:
    case 0x201E:
    case 0xAB:
      return "“";
    case 0x201D:
    case 0xBB:
      return "”";
    default:
      return {};
  }
}

std::string_view SymbolName(char32_t c, bool before_digit) {
  switch (c) {
    case '&':
      return "and";
    case '+':
      return "plus";
    case '=':
      return "equals";
    case '@':
      return "at";
    case '%':
      return "percent";
    case '#':
      return before_digit ? "number" : "hashtag";
    case '<':
      return "less than";
    case '>':
      return "greater than";
    case '~':
      return before_digit ? "about" : "";
    case '$':
      return "dollar";
    case '\\':
      return "backslash";
    case 0xA2:
      return "cents";
    case 0xA3:
      return "pound";
    case 0xA7:
      return "section";
    case 0xA9:
      return "copyright";
    case 0xB0:
      return "degrees";
    case 0xAE:
      return "registered";
    case 0xB1:
      return "plus or minus";
    case 0xB2:
      return "squared";
    case 0xB3:
      return "cubed";
    case 0xD7:
      return "times";
    case 0xF7:
      return "divided by";
    case 0x20AC:
      return "euro";
    case 0x2212:
      return "minus";
    case 0x2122:
      return "trademark";
    case 0x2030:
      return "per thousand";
    case 0x20BF:
      return "bitcoin";
    case 0x2116:
      return "number";
    case 0x2211:
      return "the sum";
    case 0x221A:
      return "the square root of";
    case 0x221B:
      return "the cube root of";
    case 0x221C:
      return "the fourth root of";
    case 0x221E:
      return "infinity";
    case 0x222B:
      return "the integral";
    case 0xB6:
      return "paragraph";
    case 0x2103:
      return "degrees celsius";
    case 0x2109:
      return "degrees fahrenheit";
    case 0x2102:
      return "the complex numbers";
    case 0x2115:
      return "the natural numbers";
    case 0x211A:
      return "the rational numbers";
    case 0x211D:
      return "the real numbers";
    case 0x2124:
      return "the integers";
    case 0x2200:
      return "for all";
    case 0x2202:
      return "partial";
    case 0x2203:
      return "there is";
    case 0x2205:
      return "the empty set";
    case 0x2208:
      return "is in";
    case 0x2209:
      return "is not in";
    case 0x2229:
      return "intersection";
    case 0x222A:
      return "union";
    case 0x2227:
      return "and";
    case 0x2228:
      return "or";
    case 0xAC:
      return "not";
    case 0x2282:
      return "is a subset of";
    case 0x2261:
      return "is identical to";
    case 0x221D:
      return "is proportional to";
    case 0x2220:
      return "angle";
    case 0x22A5:
      return "is perpendicular to";
    case 0x2225:
      return "is parallel to";
    case 0x2234:
      return "therefore";
    case 0x2248:
      return "is about";
    case 0x2260:
      return "is not equal to";
    case 0x2318:
      return "command";
    case 0x2325:
      return "option";
    case 0x21E7:
      return "shift";
    case 0x2264:
      return "less than or equal to";
    case 0x2265:
      return "greater than or equal to";
    default:
      return {};
  }
}

}  // namespace millrace::models
