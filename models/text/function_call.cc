#include "models/text/function_call.h"

namespace millrace::models {
namespace {

// Returns true for x, "a b", 3; not for the words of a remark.
bool IsArguments(std::string_view inner) {
  for (size_t at = inner.find(' '); at != std::string_view::npos; at = inner.find(' ', at + 1)) {
    if (at == 0 || inner[at - 1] != ',') return false;
  }
  return !inner.empty();
}

// Returns true for the name of a function that no word has: obj.method, get_name.
bool IsCallable(std::string_view word) {
  constexpr size_t kFewest = 2;
  const size_t dot = word.rfind('.');
  if (dot != std::string_view::npos &&
      ((dot < kFewest && !IsAsciiUpper(word.front())) || dot + kFewest >= word.size() ||
       !IsAsciiLower(word[dot + 1]))) {
    return false;
  }
  const bool is_joined = dot != std::string_view::npos ||
                         word.substr(0, word.size() - 1).find('_') != std::string_view::npos;
  return is_joined && IsAsciiLetter(word.front()) &&
         std::ranges::all_of(word, [](char c) { return IsNameByte(c) || c == '.'; });
}

// Returns true for the endings that a text has in brackets: file(s), aluno(a, os).
bool IsEndingOfWord(std::string_view part) {
  return part.size() <= 2 && part.find_first_not_of("aeos") == std::string_view::npos;
}

// Returns true for arguments that no prose has: several words or numbers, or one with a sign:
// 1, x; *args; y=2.
bool AreSurelyArguments(std::string_view inner) {
  constexpr std::string_view kSigns = "_.*%=-+\"'[]";
  size_t parts = 0;
  bool has_sign = false;
  bool are_endings = true;
  while (!inner.empty()) {
    const size_t comma = std::min(inner.find(','), inner.size());
    const std::string_view part = Trim(inner.substr(0, comma));
    inner.remove_prefix(std::min(comma + 1, inner.size()));
    const auto is_part = [kSigns](char c) {
      return IsAsciiAlnum(c) || kSigns.find(c) != std::string_view::npos;
    };
    if (part.empty() || !std::ranges::all_of(part, is_part)) return false;
    ++parts;
    has_sign = has_sign || part.front() == '*' || part.find('=') != std::string_view::npos;
    are_endings = are_endings && IsEndingOfWord(part);
  }
  return (parts > 1 && !are_endings) || has_sign;
}

// Returns the end of an index in brackets: [0], ["key"], [i], [1:3], []; 0 if there is none. The
// number of a note is none.
size_t IndexEnd(const PatternText& text, size_t at) {
  constexpr size_t kLongest = 40;
  const std::string_view window = text.text().substr(0, at + kLongest);
  const size_t close = window.find_first_of("]\n", at);
  if (text.At(at) != '[' || close == std::string_view::npos || window[close] != ']') return 0;
  const std::string_view inner = window.substr(at + 1, close - at - 1);
  const bool is_name = !inner.empty() && IsAsciiLetter(inner.front()) && !IsEndingOfWord(inner) &&
                       inner != "sic" && std::ranges::all_of(inner, IsNameByte);
  // dict[str, int]
  const bool is_list = inner.find(", ") != std::string_view::npos && IsAsciiLetter(inner.front()) &&
                       IsArguments(inner) && std::ranges::all_of(inner, [](char c) {
                         return IsNameByte(c) || c == ',' || c == ' ' || c == '.';
                       });
  const bool is_slice = inner.find(':') != std::string_view::npos &&
                        inner.find_first_not_of("0123456789:-") == std::string_view::npos;
  const bool is_quoted =
      inner.size() > 2 && IsQuote(inner.front()) && inner.back() == inner.front();
  if (!is_name && !is_list && !is_slice && !is_quoted && inner != "0" && !inner.empty()) return 0;
  return text.At(close + 1) == '(' ? 0 : close + 1;
}

// Returns the end of names that :: or -> joins to the name [at, end), or `end`.
size_t MembersEnd(const PatternText& text, size_t at, size_t end) {
  while (true) {
    const std::string_view joint = text.text().substr(end, 2);
    const char next = text.At(end + 2);
    const bool joins = joint == "::"
                           ? IsAsciiLetter(next)
                           : joint == "->" && IsAsciiLower(next) && IsAsciiLower(text.At(at));
    if (!joins) return end;
    end = text.NameEnd(end + 2);
  }
}

// Returns the end of the first call, index or member of the name [at, end); 0 if there is none.
size_t FirstEnd(const PatternText& text, size_t at, size_t end) {
  // this.$t("key")
  if (text.At(end) == '$' && text.At(end - 1) == '.') end = text.NameEnd(end + 1);
  if (text.At(end - 1) == '-' && text.At(end) == '>') --end;
  const size_t name_end = end;
  end = MembersEnd(text, at, end);
  if (text.At(end) == '(' && text.At(end + 1) == ')') return end + 2;
  size_t index = IndexEnd(text, end);
  for (size_t next = index; next > 0; next = IndexEnd(text, next)) index = next;
  if (index > 0) return index;
  // print("text"), printf("%d", x)
  if (const size_t call = IsQuote(text.At(end + 1)) ? text.Parentheses(end) : 0; call > 0) {
    const size_t close = text.text().find(text.At(end + 1), end + 2);
    if (text.text()[call - 2] == text.At(end + 1) || text.At(close + 1) == ',') return call;
  }
  // list.append(x), get_name(a, b)
  if (const size_t call = text.Parentheses(end); call > 0) {
    const std::string_view inner = text.text().substr(end + 1, call - end - 2);
    if (AreSurelyArguments(inner) ||
        (IsCallable(text.text().substr(at, end - at)) && IsArguments(inner)))
      return call;
  }
  return end > name_end ? end : 0;
}

}  // namespace

size_t FunctionCallEnd(const PatternText& text, size_t at, size_t end) {
  end = FirstEnd(text, at, end);
  // Its result may have members: S.of(context)!.title, users[].name, f().then(g).
  while (end > 0) {
    const size_t dot = text.At(end) == '!' || text.At(end) == '?' ? end + 1 : end;
    if (text.At(dot) != '.' || !IsAsciiLower(text.At(dot + 1))) break;
    end = text.NameEnd(dot + 1);
    if (const size_t next = std::max(text.Parentheses(end), IndexEnd(text, end)); next > 0)
      end = next;
  }
  return end;
}

}  // namespace millrace::models
