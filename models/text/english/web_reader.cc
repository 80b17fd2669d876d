#include "models/text/english/web_reader.h"

#include <algorithm>

#include "models/text/ascii.h"
#include "models/text/english/hex_code.h"
#include "models/text/english/one_of.h"
#include "models/text/english/word_kinds.h"
#include "models/text/sign_names.h"

namespace millrace::models {
namespace {

bool IsLabelByte(char c) { return IsAsciiAlnum(c) || c == '-'; }

// Returns true for "a.b.com" without anything after it.
bool IsDomain(std::string_view host, bool known_top_level) {
  size_t labels = 0;
  size_t at = 0;
  std::string_view last;
  while (at <= host.size()) {
    const size_t end = std::min(host.find('.', at), host.size());
    last = host.substr(at, end - at);
    if (last.empty() || !std::ranges::all_of(last, IsLabelByte)) return false;
    ++labels;
    at = end + 1;
  }
  if (labels < 2) return false;
  if (!std::ranges::all_of(last, IsAsciiLetter)) return false;
  return known_top_level ? IsOfKind(last, "top-level-domain") : last.size() >= 2;
}

// Returns true for "127.0.0.1".
bool IsIpAddress(std::string_view host) {
  size_t numbers = 0;
  for (size_t at = 0; at <= host.size(); ++numbers) {
    const size_t end = DigitsEnd(host, at);
    if (end == at || end - at > 3 || (end < host.size() && host[end] != '.')) return false;
    at = end + 1;
  }
  return numbers == 4;
}

// Returns true for "/etc/hosts", "~/notes" and "./run".
bool IsPath(std::string_view path) {
  const size_t slash = path.find('/');
  if (slash > 2) return false;  // also where there is none
  const std::string_view root = path.substr(0, slash);
  if (!root.empty() && root != "~" && root != "." && root != "..") return false;
  const bool hidden = !root.empty() && ByteAt(path, slash + 1) == '.';
  if (path.size() < slash + 3 || !IsAsciiLetter(path[slash + (hidden ? 2 : 1)])) return false;
  const bool deep = path.find('/', slash + 1) != std::string_view::npos;
  return (deep || !root.empty()) && std::ranges::all_of(path, [](char c) {
           return IsLabelByte(c) || IsAmong("/._~?=&%+#:", c);
         });
}

// Returns true for the "/tmp" of "ls /tmp", but not for "and /or" and "8 min./side".
bool IsFolder(std::string_view text, size_t at, std::string_view path) {
  return (at == 0 || IsAmong(" (`\"", text[at - 1])) && path.size() > 2 && path[0] == '/' &&
         std::ranges::all_of(path.substr(1), IsAsciiLetter) &&
         !IsOneOf(path, "/and", "/her", "/hers", "/or", "/she");
}

// Returns true for "src/main.cpp".
bool IsRelativePath(std::string_view path) {
  constexpr size_t kMaxEnding = 4;
  const size_t dot = path.rfind('.');
  const size_t slash = path.rfind('/');
  if (dot == std::string_view::npos || slash == std::string_view::npos || dot < slash + 2)
    return false;
  const std::string_view ending = path.substr(dot + 1);
  return !ending.empty() && ending.size() <= kMaxEnding && IsAsciiLower(ending[0]) &&
         std::ranges::all_of(ending, [](char c) { return IsAsciiLower(c) || IsAsciiDigit(c); }) &&
         std::ranges::all_of(
             path, [](char c) { return IsLabelByte(c) || c == '/' || c == '.' || c == '_'; });
}

// Returns true for the identifier of an article: "10.1038/nature12373".
bool IsDigitalObject(std::string_view address) {
  const size_t slash = DigitsEnd(address, std::min<size_t>(3, address.size()));
  return address.starts_with("10.") && slash > 6 && slash + 1 < address.size() &&
         address[slash] == '/';
}

constexpr SignName<std::string_view> kWebSymbols[] = {
    {U".", "dot"}, {U"/", "slash"}, {U"-", "dash"},          {U"_", "underscore"},
    {U"@", "at"},  {U":", "colon"}, {U"?", "question mark"}, {U"=", "equals"},
    {U"&", "and"}, {U"#", "hash"},  {U"%", "percent"},       {U"~", "tilde"},
    {U"+", "plus"}};

std::string_view WebSymbolName(char c) {
  return NameOfSign(kWebSymbols, static_cast<unsigned char>(c));
}

void Spell(const NumberWords& numbers, std::string_view address, Reading& reading) {
  constexpr size_t kMaxNumber = 4;
  size_t at = 0;
  while (at < address.size()) {
    if (IsAsciiLetter(address[at])) {
      const size_t end = LettersEnd(address, at);
      const std::string word = AsciiLower(address.substr(at, end - at));
      if (word.size() == 1) {
        // A single letter is a letter, never the article.
        reading.words.push_back(std::string(address.substr(at, 1)) + ".");
      } else {
        reading.Append(word == "www"   ? "W.W.W."
                       : word == "etc" ? "E.T.C."
                       : word == "usr" ? "user"
                                       : word);
      }
      at = end;
    } else if (IsAsciiDigit(address[at])) {
      const size_t end = DigitsEnd(address, at);
      const std::string_view digits = address.substr(at, end - at);
      const bool port = at > 0 && address[at - 1] == ':';
      reading.Append(port || digits.size() > kMaxNumber ? numbers.Digits(digits)
                                                        : numbers.Whole(digits));
      at = end;
    } else {
      const std::string_view name = WebSymbolName(address[at++]);
      if (name == "question mark") {
        reading.Append("question");
        reading.Append("mark");
      } else if (!name.empty()) {
        reading.Append(name);
      }
    }
  }
}

// Returns the end of an address, before marks of the sentence.
size_t AddressEnd(std::string_view text, size_t at) {
  size_t end = at;
  const size_t limit = std::min(text.size(), at + kMaxWebBytes);
  while (end<limit&& static_cast<unsigned char>(text[end])> ' ' &&
         static_cast<unsigned char>(text[end]) < 0x80 && !IsAmong("<>\"()[]{}|\\^`", text[end])) {
    ++end;
  }
  while (end > at && IsAmong(".,;:!?'*", text[end - 1])) --end;
  return end;
}

// Reads "[::1]:8080/docs", the host in brackets that stands at `at`.
std::optional<Reading> ReadBracketedHost(const NumberWords& numbers, std::string_view text,
                                         size_t at) {
  auto reading = ReadIpv6Address(numbers, text, at + 1);
  if (!reading || ByteAt(text, reading->end) != ']') return std::nullopt;
  const size_t rest = reading->end + 1;
  reading->end = AddressEnd(text, rest);
  Spell(numbers, text.substr(rest, reading->end - rest), *reading);
  return reading;
}

}  // namespace

std::optional<Reading> ReadWeb(const NumberWords& numbers, std::string_view text, size_t at) {
  const char first = ByteAt(text, at);
  const bool path = first == '/' || first == '~' || first == '.';
  if (first == '[') return ReadBracketedHost(numbers, text, at);
  if (!IsAsciiAlnum(first) && !path) return std::nullopt;
  size_t end = AddressEnd(text, at);
  std::string_view address = text.substr(at, end - at);
  if (ByteAt(text, end) == '[' && address.ends_with("://"))
    return ReadBracketedHost(numbers, text, end);
  if (address.ends_with("'s")) address.remove_suffix(2);
  end = at + address.size();
  if (path) {
    if (!IsPath(address) && !IsFolder(text, at, address)) return std::nullopt;
    Reading reading{end, {}};
    Spell(numbers, address, reading);
    return reading;
  }
  if (IsDigitalObject(address)) {
    Reading reading{end, {}};
    Spell(numbers, address, reading);
    return reading;
  }
  if (address.find('.') == std::string_view::npos && !address.starts_with("localhost") &&
      address.find("://") == std::string_view::npos) {
    return std::nullopt;
  }
  Reading reading{end, {}};
  if (const size_t scheme = address.find("://"); scheme != std::string_view::npos) {
    if (scheme == 0 || !std::ranges::all_of(address.substr(0, scheme), IsAsciiLetter)) {
      return std::nullopt;
    }
    address.remove_prefix(scheme + 3);
  } else if (const size_t sign = address.find('@');
             sign < std::min(address.find('/'), address.size())) {
    const bool local = std::ranges::all_of(address.substr(0, sign), [](char c) {
      return IsLabelByte(c) || c == '.' || c == '_' || c == '+' || c == '%';
    });
    // "ssh root@10.0.0.1".
    const std::string_view host = address.substr(sign + 1);
    if (sign == 0 || !local || (!IsDomain(host, false) && !IsIpAddress(host))) return std::nullopt;
  } else {
    const std::string_view host = address.substr(0, address.find_first_of("/?#:"));
    const bool local = (host == "localhost" || IsIpAddress(host)) && host.size() < address.size();
    // "bit.ly/3xYz" has an ending of a country.
    const bool country = host.size() > 3 && host[host.size() - 3] == '.' && host.find('.') > 1 &&
                         address.size() > host.size() + 1 && address[host.size()] == '/' &&
                         IsAsciiLower(host.back());
    if (!local && !IsDomain(host, !host.starts_with("www.") && !country) &&
        !IsRelativePath(address))
      return std::nullopt;
  }
  if (address.ends_with('/')) address.remove_suffix(1);
  Spell(numbers, address, reading);
  if (reading.words.empty()) return std::nullopt;
  return reading;
}

}  // namespace millrace::models
