#include "models/text/english/tex_text.h"

#include <algorithm>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/one_of.h"
#include "models/text/english/tex_words_text.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxFormula = 256;
constexpr int kMaxDepth = 8;

// Returns one past the bracket that closes the one at `open`, or `limit` if none does.
size_t GroupEnd(std::string_view text, size_t open, size_t limit) {
  size_t depth = 0;
  for (size_t at = open; at < limit; ++at) {
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && --depth == 0) return at + 1;
  }
  return limit;
}

// Returns the end of the formula that opens at the dollar at `at`, with the dollars behind it; 0
// for a dollar of money or of a program.
size_t FormulaEnd(std::string_view text, size_t at) {
  const size_t dollars = ByteAt(text, at + 1) == '$' ? 2 : 1;
  const size_t begin = at + dollars;
  const char first = ByteAt(text, begin);
  if (first == '\0' || first == ' ' || first == '{' || first == '(' || first == '$' ||
      (at > 0 && IsAsciiAlnum(text[at - 1])))
    return 0;
  const size_t close = text.substr(0, begin + kMaxFormula).find('$', begin + 1);
  if (close == text.npos || text[close - 1] == ' ' || text[close - 1] == '\\' ||
      (dollars == 2 && ByteAt(text, close + 1) != '$') ||
      IsAsciiAlnum(ByteAt(text, close + dollars)))
    return 0;
  const std::string_view formula = text.substr(begin, close - begin);
  const bool variable = (formula.size() == 1 && IsAsciiLetter(first)) ||
                        formula.find_first_not_of("-0123456789") == formula.npos;
  const bool signs =
      formula.find_first_of(IsAsciiDigit(first) ? "\\^_=" : "\\^_=+<>(") != formula.npos;
  return variable || signs ? close + dollars : 0;
}

// Writes a text with its formulas in plain signs.
class Writer {
 public:
  explicit Writer(std::string_view source) : source_(source) {}

  FoldedText Run() {
    for (size_t at = 0; at < source_.size();) {
      const char c = source_[at];
      if (const size_t end = c == '$' ? FormulaEnd(source_, at) : 0; end > 0) {
        const size_t dollars = source_[at + 1] == '$' ? 2 : 1;
        AddFormula(at + dollars, end - dollars, 0);
        at = end;
      } else if (const size_t close = c == '\\' ? BracketedEnd(at) : 0; close > 0) {
        AddFormula(at + 2, close, 0);
        at = close + 2;
      } else if (c == '\\' && IsFunction(at)) {
        at = AddCommand(at, std::min(source_.size(), at + kMaxFormula), 0);
      } else {
        Add(source_.substr(at, 1), at);
        ++at;
      }
    }
    plain_.origins.push_back(source_.size());
    return std::move(plain_);
  }

  bool changed() const { return changed_; }

 private:
  void Add(std::string_view text, size_t at) {
    plain_.text += text;
    plain_.origins.resize(plain_.text.size(), at);
  }

  void AddWords(std::string_view words, size_t at) {
    if (!plain_.text.empty() && !plain_.text.ends_with(' ')) Add(" ", at);
    Add(words, at);
    Add(" ", at);
  }

  std::string_view CommandAt(size_t at) const { return LettersAt(source_, at + 1, kMaxCommand); }

  // Returns where "\)" closes the "\(" at `at`, 0 if that is none.
  size_t BracketedEnd(size_t at) const {
    const char open = ByteAt(source_, at + 1);
    if (open != '(' && open != '[') return 0;
    const size_t close =
        source_.substr(0, at + kMaxFormula).find(open == '(' ? "\\)" : "\\]", at + 2);
    return close == source_.npos ? 0 : close;
  }

  bool IsFunction(size_t at) const {
    const std::string_view command = CommandAt(at);
    return ByteAt(source_, at + 1 + command.size()) == '{' &&
           IsOneOf(command, "dfrac", "frac", "sqrt", "tfrac");
  }

  // Adds the group, command or sign at `at` and returns its end.
  size_t AddArgument(size_t at, size_t end, int depth) {
    if (at >= end) return end;
    if (source_[at] == '\\' && depth < kMaxDepth) return AddCommand(at, end, depth + 1);
    if (source_[at] != '{') {
      const size_t bytes = std::min(end - at, std::max<size_t>(DecodeAt(source_, at).bytes, 1));
      Add(source_.substr(at, bytes), at);
      return at + bytes;
    }
    const size_t close = GroupEnd(source_, at, end);
    AddFormula(at + 1, std::max(at + 1, close - 1), depth + 1);
    return close;
  }

  // Adds what is behind "^" and returns its end.
  size_t AddPower(size_t at, size_t end, int depth) {
    const bool group = ByteAt(source_, at + 1) == '{';
    const size_t begin = at + (group ? 2 : 1);
    const size_t close = group ? GroupEnd(source_, at + 1, end) : begin + 1;
    const std::string_view power =
        source_.substr(begin, std::max(begin, close - (group ? 1 : 0)) - begin);
    if (power == "\\circ" || (!group && source_.substr(begin).starts_with("\\circ"))) {
      Add("°", at);
      return group ? close : begin + 5;
    }
    const size_t sign = power.starts_with('-') || power.starts_with('+') ? 1 : 0;
    const bool simple = DigitsEnd(power, sign) == power.size() || power.size() == 1 + sign;
    if (group && simple) {
      Add("^", at);
      Add(power, begin);
      return close;
    }
    if (!group && ByteAt(source_, begin) != '\\') {
      Add("^", at);
      return begin;
    }
    AddWords("to the", at);
    return AddArgument(at + 1, end, depth);
  }

  // Adds the limits of a sum behind its name, and returns their end.
  size_t AddLimits(size_t at, size_t end, int depth, std::string_view from) {
    for (const char sign : {'_', '^'}) {
      if (ByteAt(source_, at) != sign) continue;
      AddWords(sign == '_' ? from : "to", at);
      at = AddArgument(at + 1, end, depth);
    }
    AddWords("of", at);
    return at;
  }

  size_t AddCommand(size_t at, size_t end, int depth) {
    changed_ = true;
    const std::string_view command = CommandAt(at);
    size_t behind = at + 1 + command.size();
    if (command.empty()) {
      // "\," is a space, "\%" a sign.
      const char sign = ByteAt(source_, at + 1);
      const bool shown = IsAmong("{}%$#&_", sign);
      Add(shown ? source_.substr(at + 1, 1) : std::string_view(" "), at);
      return std::min(at + (static_cast<unsigned char>(sign) < 0x80 ? 2 : 1), end);
    }
    if (command.ends_with("frac")) {
      const size_t middle = GroupEnd(source_, behind, end);
      const size_t last = ByteAt(source_, middle) == '{' ? GroupEnd(source_, middle, end) : end;
      // "\frac{1}{2}" is a half.
      constexpr size_t kMaxDigits = 2;
      const bool numbers = middle > behind + 2 && last > middle + 2 &&
                           middle - behind <= kMaxDigits + 2 && last - middle <= kMaxDigits + 2 &&
                           DigitsEnd(source_, behind + 1) == middle - 1 &&
                           DigitsEnd(source_, middle + 1) == last - 1;
      if (!plain_.text.empty() && IsAsciiAlnum(plain_.text.back())) Add(" ", at);
      behind = AddArgument(behind, end, depth);
      if (numbers) {
        Add("/", behind);
      } else {
        AddWords("over", behind);
      }
      return AddArgument(behind, end, depth);
    }
    const bool limits = ByteAt(source_, behind) == '_';
    if (limits && IsOneOf(command, "int", "lim", "prod", "sum")) {
      AddWords(command == "int"    ? "the integral"
               : command == "lim"  ? "the limit"
               : command == "prod" ? "the product"
                                   : "the sum",
               at);
      return AddLimits(behind, end, depth, command == "lim" ? "as" : "from");
    }
    if (limits && command == "log") {
      Add("log", at);
      return AddArgument(behind + 1, end, depth);
    }
    static const WordTable<2> words(kTexWordsText);
    const auto* const row = words.Find(command);
    const std::string_view spoken = row == nullptr ? command : row->back();
    if (spoken.starts_with("= ")) {
      AddWords(spoken.substr(2), at);
    } else if (row == nullptr) {
      if (!plain_.text.empty() && IsAsciiAlnum(plain_.text.back())) Add(" ", at);
      Add(spoken, at);
    } else {
      Add(spoken, at);
    }
    return behind;
  }

  void AddFormula(size_t begin, size_t end, int depth) {
    changed_ = true;
    if (depth > kMaxDepth) return Add(source_.substr(begin, end - begin), begin);
    for (size_t at = begin; at < end;) {
      const char c = source_[at];
      if (c == '\\') {
        at = AddCommand(at, end, depth);
      } else if (c == '^') {
        at = AddPower(at, end, depth);
      } else if (c == '-' && at == begin) {
        Add("−", at);
        ++at;
      } else {
        if (c != '{' && c != '}' && c != '&') Add(source_.substr(at, 1), at);
        ++at;
      }
    }
  }

  static constexpr size_t kMaxCommand = 16;

  const std::string_view source_;
  FoldedText plain_;
  bool changed_ = false;
};

}  // namespace

std::optional<FoldedText> PlainTex(std::string_view source) {
  // Most texts have neither.
  const size_t dollar = source.find('$');
  if (source.find('\\') == source.npos &&
      (dollar == source.npos || source.find('$', dollar + 1) == source.npos))
    return std::nullopt;
  Writer writer(source);
  FoldedText plain = writer.Run();
  return writer.changed() ? std::optional(std::move(plain)) : std::nullopt;
}

}  // namespace millrace::models
