#include "models/text/address.h"

#include "models/text/code_words.h"

namespace millrace::models {
namespace {

bool IsAddressByte(char c) {
  constexpr std::string_view kOthers = "-._~:/?#[]@!$&'()*+,;=%";
  return IsAsciiAlnum(c) || static_cast<unsigned char>(c) >= 0x80 ||
         kOthers.find(c) != std::string_view::npos;
}

bool HasEnding(std::string_view word) {
  const size_t dot = word.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return false;
  const std::string_view ending = word.substr(dot + 1);
  if (IsCodeWord(ending, "file") || IsCodeWord(ending, "domain")) return true;
  // "the end.It is": two letters of which one is small may begin a sentence.
  const bool capitals = std::ranges::all_of(ending, IsAsciiUpper);
  return (capitals || ending.size() > 2) && IsCodeWord(AsciiLower(ending), "file");
}

// Returns true for 1.2.3, v2, v1.0-rc1, 192.168.0.1; not for 1.234.567, which is a number.
bool IsVersion(std::string_view word) {
  const bool marked = word.front() == 'v';
  if (marked) word.remove_prefix(1);
  if (word.empty() || !IsAsciiDigit(word.front())) return false;
  size_t dots = 0;
  bool thousands = true;
  size_t at = DigitsEnd(word, 0);
  while (at < word.size() && word[at] == '.') {
    const size_t end = DigitsEnd(word, at + 1);
    if (end == at + 1) return false;
    thousands = thousands && end - at == 4;
    at = end;
    ++dots;
  }
  if (at < word.size() && word[at] != '-' && word[at] != '+') return false;
  return marked || (dots >= 2 && !thousands);
}

}  // namespace

size_t AddressReader::Path(size_t at) const {
  if (at > 0 && !IsSpace(DecodeBefore(text_, at).value) && At(at - 1) != '"' &&
      At(at - 1) != '\'' && At(at - 1) != '(') {
    return 0;
  }
  const size_t dots = RunEnd(
      at, [](char c) { return c == '.' || c == '~'; }, 2);
  if (At(dots) != '/' || !IsPathByte(At(dots + 1))) return 0;
  return Trimmed(at, RunEnd(
                         dots, [](char c) { return IsPathByte(c) || c == '/'; }, 1024));
}

size_t AddressReader::Url(size_t begin, size_t from) const {
  const size_t limit = std::min(text_.size(), from + 2048);
  size_t end = from;
  while (end < limit && IsAddressByte(text_[end])) {
    if (text_[end] == '[' && At(end + 1) == '/') break;  // a closing tag of a forum
    const CodePoint c = DecodeAt(text_, end);
    if (c.bytes > 1 && !IsWordCharacter(c.value)) break;
    end += c.bytes;
  }
  end = Trimmed(begin, end);
  return end > from ? end : 0;
}

size_t AddressReader::Address(size_t at) const {
  const size_t letters = RunEnd(at, IsAsciiLetter, 16);
  const size_t scheme = RunEnd(letters, IsAsciiAlnum, 4);  // s3://
  if (letters > at && text_.substr(scheme, 3) == "://") return Url(at, scheme + 3);
  if (const bool has_scheme = IsCodeWord(text_.substr(at, letters - at), "scheme");
      has_scheme && At(letters) == ':' && At(letters + 1) > ' ') {
    // The date of a form: data:12/05.
    if (text_[at] != 'd' || IsAsciiLetter(At(letters + 1))) return Url(at, letters + 1);
  }
  if (text_.substr(at, 4) == "www." && IsAsciiAlnum(At(at + 4))) return Url(at, at + 4);
  if (letters == at + 1 && At(letters) == ':' &&
      (At(letters + 1) == '\\' || At(letters + 1) == '/')) {
    const auto part = [](char c) { return IsPathByte(c) || c == '\\' || c == '/' || c == ':'; };
    return Trimmed(at, RunEnd(letters, part, 1024));
  }
  const size_t end = RunEnd(at, IsPathByte);
  if (At(end) == '@') {
    // git@host:folder/file
    const size_t host = RunEnd(end + 1, IsPathByte);
    if (host > end + 1 && At(host) == ':' && (IsPathByte(At(host + 1)) || At(host + 1) == '/')) {
      return Trimmed(at, RunEnd(
                             host + 1, [](char c) { return IsPathByte(c) || c == '/'; }, 1024));
    }
    const size_t mail = Mail(end + 1);
    if (mail > 0) return mail;
  }
  return 0;
}

size_t AddressReader::Mail(size_t at) const {
  size_t end = RunEnd(at, [](char c) { return IsAsciiAlnum(c) || c == '.' || c == '-'; });
  while (end > at && !IsAsciiAlnum(text_[end - 1])) --end;
  return text_.substr(at, end - at).find('.') == std::string_view::npos ? 0 : end;
}

size_t AddressReader::DotName(size_t at) const {
  if (!AtTokenStart(at)) return 0;
  const auto is_part = [](char c) { return IsNameByte(c) || c == '-'; };
  const size_t end = RunEnd(at + 1, is_part);
  const std::string_view name = text_.substr(at + 1, end - at - 1);
  // The names of classes of CSS: .btn-primary, .item:hover, .btn.btn-primary
  size_t last = end;
  while ((At(last) == '.' || At(last) == ':') && IsAsciiLower(At(last + 1)))
    last = RunEnd(last + 1, is_part);
  const std::string_view names = text_.substr(at + 1, last - at - 1);
  const size_t joint = names.find_first_of("-_:");
  const bool is_class = joint != std::string_view::npos && joint > 0 && joint + 1 < names.size() &&
                        IsAsciiLower(names[0]);
  if (is_class) return last;
  return name.ends_with("rc") || name.ends_with("ignore") || IsCodeWord(name, "hidden") ||
                 IsCodeWord(name, "file") || IsCodeWord(name, "domain")
             ? end
             : 0;
}

size_t AddressReader::Name(size_t at, size_t end) const {
  if (end < text_.size() && IsWordCharacter(DecodeAt(text_, end).value)) return 0;
  end = Trimmed(at, end);
  while (end > at && (text_[end - 1] == '-' || text_[end - 1] == '+')) --end;
  // The name may follow a folder: src/main.cc
  if (At(end) == '/') {
    const size_t whole =
        Trimmed(at, RunEnd(
                        end, [](char c) { return IsPathByte(c) || c == '/'; }, 1024));
    if (HasEnding(text_.substr(end, whole - end)) || HasEnding(text_.substr(at, end - at)))
      return whole;
  }
  const std::string_view word = text_.substr(at, end - at);
  if (const size_t port = DigitsEnd(text_, end + 1);
      At(end) == ':' && port > end + 2 &&
      (word == "localhost" || IsVersion(word) || HasEnding(word))) {
    return Trimmed(at, RunEnd(port, [](char c) { return IsPathByte(c) || c == '/'; }));
  }
  if (word.find('_') != std::string_view::npos && word.find_first_not_of('_') != word.npos)
    return end;
  if (IsVersion(word) || HasEnding(word)) return end;
  return 0;
}

}  // namespace millrace::models
