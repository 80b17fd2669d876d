#include "models/text/code_fragment.h"

#include <algorithm>
#include <array>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/code_words.h"
#include "models/text/pattern_text.h"

namespace millrace::models {
namespace {

constexpr size_t kLongestBeginning = 16;

class FragmentReader final : PatternText {
 public:
  FragmentReader(std::string_view text, size_t at) : PatternText(text), at_(at) {
    end_ = RunEnd(at + (At(at) == '@' ? 1 : 0), IsNameByte, kLongestBeginning);
  }

  size_t End() const {
    const std::string_view forms = CodeFormsOf(text_.substr(at_, end_ - at_));
    if (forms.empty()) return 0;
    size_t end = 0;
    ForEachWord(forms, [&](std::string_view form) {
      if (end != 0) return;
      if (form == "condition") end = ConditionEnd();
      if (form == "value") end = ReturnedEnd();
      if (form == "name") end = AssignmentEnd();
      if (form == "type") end = TypedEnd();
      if (form == "function") end = LambdaEnd();
      if (form == "module") end = ImportEnd();
      if (form == "call") end = CallEnd();
      if (form == "declaration") end = DeclarationEnd();
    });
    return end;
  }

 private:
  size_t Spaces(size_t at) const {
    return RunEnd(
        at, [](char c) { return c == ' '; }, 2);
  }

  // Returns the end of a name, with its members: os.path; 0 if there is none.
  size_t NamesEnd(size_t at) const {
    size_t end = IsAsciiDigit(At(at)) ? at : NameEnd(at);
    while (end > at && At(end) == '.' && IsAsciiLetter(At(end + 1))) end = NameEnd(end + 1);
    return end > at ? end : 0;
  }

  // Returns the end of a value that no prose has: a number, a quotation, a call, a constant, a name
  // with signs; 0 if there is none.
  size_t ValueEnd(size_t at) const {
    if (IsQuote(At(at)) || At(at) == '`') {
      const size_t close = text_.substr(0, at + kMaxSpanBytes).find(At(at), at + 1);
      return close == std::string_view::npos ? 0 : close + 1;
    }
    if (const std::string_view word = text_.substr(at, RunEnd(at, IsNameByte) - at);
        word == "await" || word == "new") {
      if (const size_t call = FragmentReader(text_, at).CallEnd(); call > 0) return call;
    }
    const size_t sign = At(at) == '-' || At(at) == '!' || At(at) == '&' || At(at) == '*' ? 1 : 0;
    const size_t end = RunEnd(at + sign, IsPathByte);
    if (end == at + sign) return 0;
    if (const size_t call = Parentheses(end); call > 0) return call;
    const std::string_view word = text_.substr(at + sign, end - at - sign);
    const bool is_certain = sign > 0 || IsAsciiDigit(word[0]) ||
                            word.find('_') != std::string_view::npos ||
                            IsCodeWord(word, "constant");
    return is_certain ? Trimmed(at, end) : 0;
  }

  size_t ConditionEnd() const {
    constexpr std::array<std::string_view, 14> kSigns = {
        "==", "!=", "<=", ">=", "&&", "||", "++", "--", " < ", " > ", " = ", "; ", ": ", "true"};
    const size_t open = Spaces(end_);
    const size_t close = Parentheses(open);
    if (close == 0) return 0;
    const std::string_view inner = text_.substr(open, close - open);
    const bool is_code = std::ranges::any_of(kSigns, [&](std::string_view sign) {
      const size_t found = inner.find(sign);
      // A colon and a semicolon of prose have words on both sides.
      const bool is_mark = sign == ": " || sign == "; ";
      return found != std::string_view::npos &&
             (!is_mark || inner.find_first_of("=0123456789") != std::string_view::npos);
    });
    return is_code || (inner.size() > 2 && inner[1] == '!') ? close : 0;
  }

  size_t ReturnedEnd() const {
    constexpr size_t kShortName = 2;
    const size_t value = Spaces(end_);
    if (value == end_) return 0;
    const size_t name = NameEnd(value);
    if (At(name) == ';' && name > value && name - value <= kShortName) return name + 1;
    const size_t end = ValueEnd(value);
    return end > 0 && At(end) == ';' ? end + 1 : 0;
  }

  // Reads "await f()", "new Date()", "throw new Error("bad")", "async function f(x)".
  size_t CallEnd() const {
    size_t end = end_;
    bool is_new = text_.substr(at_, end_ - at_) == "new";
    for (size_t next = Spaces(end); next > end; next = Spaces(end)) {
      const size_t name_end = NamesEnd(next);
      if (name_end == 0) return 0;
      const std::string_view name = text_.substr(next, name_end - next);
      if (const size_t call = Parentheses(name_end); call > 0) {
        // The class of "new" begins with a capital: "the new house(s)"
        if (is_new && !IsAsciiUpper(name.front())) return 0;
        return At(call) == ';' ? call + 1 : call;
      }
      if (name != "function" && !IsCodeWord(name, "call")) return 0;
      is_new = name == "new";
      end = name_end;
    }
    return 0;
  }

  // Reads "color: #fff;", "margin: 0 auto;".
  size_t DeclarationEnd() const {
    constexpr size_t kMostValues = 6;
    const size_t name = RunEnd(
        at_, [](char c) { return IsAsciiLower(c) || c == '-'; }, 40);
    if (At(name) != ':' || text_[name - 1] == '-') return 0;
    bool is_certain = text_.substr(at_, name - at_).find('-') != std::string_view::npos;
    size_t end = Spaces(name + 1);
    for (size_t values = 1; values <= kMostValues; ++values) {
      const size_t value = end;
      if (At(end) == '#' || At(end) == '-' || At(end) == '.' || At(end) == '!') ++end;
      const bool has_sign = end > value || IsAsciiDigit(At(end));
      end = RunEnd(end, [](char c) { return IsNameByte(c) || c == '-' || c == '.' || c == '%'; });
      const size_t call = Parentheses(end);
      if (end == value) return 0;
      is_certain = is_certain || has_sign || call > 0;
      end = std::max(end, call);
      // A word alone is a value, and several are where a number is among them.
      if (At(end) == ';') return is_certain || values == 1 ? end + 1 : 0;
      if (At(end) == ',') ++end;
      if (At(end) != ' ') return 0;
      end = Spaces(end);
    }
    return 0;
  }

  // Reads "let x = 5;", "const char *name = "a"".
  size_t AssignmentEnd() const {
    const size_t name = Spaces(end_);
    size_t end = name == end_ ? 0 : NamesEnd(name);
    if (end == 0) return 0;
    // "let mut x"
    if (const std::string_view word = text_.substr(name, end - name);
        IsCodeWord(word, "name") || IsCodeWord(word, "type"))
      end = NameEnd(Spaces(end));
    const size_t sign = Spaces(end);
    if (At(sign) != '=') return 0;
    const size_t value = ValueEnd(Spaces(sign + 1));
    return value > 0 && At(value) == ';' ? value + 1 : value;
  }

  // Reads "unsigned long long", "const char *name", "int *p", "void (*f)(int)".
  size_t TypedEnd() const {
    size_t last = end_;
    size_t words = 1;
    for (size_t next = Spaces(last); next > last; next = Spaces(last)) {
      const size_t end = NameEnd(next);
      if (!IsCodeWord(text_.substr(next, end - next), "type")) break;
      last = end;
      ++words;
    }
    const size_t star = Spaces(last);
    const size_t name = RunEnd(
        star, [](char c) { return c == '*' || c == '&'; }, 3);
    if (name > star && star > last) return std::max(NameEnd(name), name);
    if (text_.substr(star).starts_with("(*")) {
      const size_t pointer = Parentheses(star);
      return pointer > 0 ? Parentheses(pointer) : 0;
    }
    // "int x = 5;"
    if (const size_t end = NameEnd(star); end > star && At(Spaces(end)) == '=') {
      const size_t value = ValueEnd(Spaces(Spaces(end) + 1));
      if (value > 0) return At(value) == ';' ? value + 1 : value;
    }
    const std::string_view first = text_.substr(at_, end_ - at_);
    const bool is_size = first == "long" || first == "short";
    const std::string_view type = text_.substr(text_.substr(0, last).rfind(' ') + 1, last - at_);
    return words > 1 && (!is_size || !type.starts_with("short")) ? last : 0;
  }

  // Reads "lambda x, y: x + y".
  size_t LambdaEnd() const {
    constexpr std::string_view kOperators = "+-*/%<>";
    const size_t colon = RunEnd(
        end_, [](char c) { return IsNameByte(c) || c == ' ' || c == ','; }, 64);
    size_t end = At(colon) == ':' ? NamesEnd(Spaces(colon + 1)) : 0;
    while (end > 0 && kOperators.find(At(Spaces(end))) != kOperators.npos) {
      const size_t next = RunEnd(Spaces(Spaces(end) + 1), IsNameByte);
      if (next == Spaces(Spaces(end) + 1)) break;
      end = next;
    }
    return end;
  }

  // Reads "import numpy as np", "from os import path", "import x from 'y';".
  size_t ImportEnd() const {
    size_t next = Spaces(end_);
    const bool is_from = text_.substr(at_, end_ - at_) == "from";
    size_t end = At(next) == '{' ? text_.substr(0, next + kMaxSpanBytes).find('}', next) + 1
                                 : NamesEnd(next);
    if (end == 0 || next == end_) return 0;
    const bool is_small = IsAsciiLower(At(next));
    next = Spaces(end);
    if (is_from) {
      if (!is_small || !text_.substr(next).starts_with("import ")) return 0;
      const size_t imported = next + std::string_view("import ").size();
      end = At(imported) == '*' ? imported + 1 : NamesEnd(imported);
      return end;
    }
    if (text_.substr(next).starts_with("from ") && IsQuote(At(next + 5))) {
      const size_t value = ValueEnd(next + 5);
      return value > 0 && At(value) == ';' ? value + 1 : value;
    }
    constexpr size_t kShortName = 3;
    if (is_small && text_.substr(next).starts_with("as ")) {
      const size_t name_end = NameEnd(next + 3);
      return name_end > next + 3 && name_end - next - 3 <= kShortName ? name_end : 0;
    }
    return is_small && At(end) == ';' ? end + 1 : 0;
  }

  const size_t at_;
  size_t end_;  // the end of the first word
};

}  // namespace

size_t CodeFragmentEnd(std::string_view text, size_t at) {
  if (!IsAsciiLower(ByteAt(text, at)) && ByteAt(text, at) != '@') return 0;
  return FragmentReader(text, at).End();
}

}  // namespace millrace::models
