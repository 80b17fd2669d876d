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
      (dot < kFewest || dot + kFewest >= word.size() || !IsAsciiLower(word[dot + 1]))) {
    return false;
  }
  const bool is_joined = dot != std::string_view::npos ||
                         word.substr(0, word.size() - 1).find('_') != std::string_view::npos;
  return is_joined && IsAsciiLetter(word.front()) &&
         std::ranges::all_of(word, [](char c) { return IsNameByte(c) || c == '.'; });
}

}  // namespace

size_t FunctionCallEnd(const PatternText& text, size_t at, size_t end) {
  if (text.At(end) == '(' && text.At(end + 1) == ')') return end + 2;
  // print("text")
  if (const size_t call = IsQuote(text.At(end + 1)) ? text.Parentheses(end) : 0;
      call > 0 && text.text()[call - 2] == text.At(end + 1))
    return call;
  // list.append(x), get_name(a, b)
  if (text.At(end) == '(' && IsCallable(text.text().substr(at, end - at))) {
    const size_t call = text.Parentheses(end);
    if (call > 0 && IsArguments(text.text().substr(end + 1, call - end - 2))) return call;
  }
  return 0;
}

}  // namespace millrace::models
