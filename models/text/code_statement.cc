#include "models/text/code_statement.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/code_words.h"
#include "models/text/programs_text.h"
#include "models/text/trim.h"

namespace millrace::models {
namespace {

constexpr size_t kLongestStatement = 1024;
constexpr size_t kLongestWordOfCode = 64;

struct Program {
  // The words that may follow it, separated by spaces; empty: any may.
  std::string_view subcommands;
  bool is_word;                // it is a word of English or Portuguese as well
  std::string_view arguments;  // words that are arguments
};

std::optional<Program> FindProgram(std::string_view name) {
  static const WordTable<4> programs(kProgramsText);
  const auto* const row = programs.Find(name);
  if (row == nullptr) return std::nullopt;
  return Program{(*row)[1], !(*row)[2].empty(), (*row)[3]};
}

bool IsIdentifierByte(char c) { return IsAsciiAlnum(c) || c == '_'; }

// Returns the end of a quotation of one line, `at` if there is none.
size_t QuotationEnd(std::string_view line, size_t at) {
  const char quote = ByteAt(line, at);
  if (quote != '"' && quote != '\'' && quote != '`') return at;
  const size_t close = line.find(quote, at + 1);
  return close == std::string_view::npos ? at : close + 1;
}

size_t SkipSpaces(std::string_view line, size_t at) {
  return std::min(line.find_first_not_of(" \t", at), line.size());
}

std::string InCapitals(std::string_view word) {
  std::string key(word);
  for (char& c : key) c = IsAsciiLower(c) ? static_cast<char>(c - 'a' + 'A') : c;
  return key;
}

// Reads a statement from its first word on.
class SqlReader {
 public:
  explicit SqlReader(std::string_view line) : line_(line) {}

  // Returns true if a statement may begin with a word, in capitals or in small letters.
  static bool Begins(std::string_view word) {
    const bool is_small = !word.empty() && std::ranges::all_of(word, IsAsciiLower);
    return CodeFormsOf(is_small ? InCapitals(word) : word).find('>') != std::string_view::npos;
  }

  size_t End() {
    const std::string_view first = WordAt(0);
    is_small_ = IsAsciiLower(first.front());
    const std::string_view further = CodeFormsOf(Key(first));
    size_t at = first.size();
    size_t end = at;
    while (!has_ended_ && Take(at, further)) end = at;
    const bool is_surely_code = has_ended_ || has_star_ || (!is_small_ && has_small_name_);
    return is_complete_ && is_surely_code ? end : 0;
  }

 private:
  // The kind of the token before, which says whether a name may follow.
  enum class Before { kKeyword, kName, kSign };

  std::string_view WordAt(size_t at) const {
    size_t end = at;
    while (end < line_.size() && end - at < kLongestWordOfCode && IsIdentifierByte(line_[end]))
      ++end;
    return line_.substr(at, end - at);
  }
  // Returns a word as the list of keywords has it.
  std::string Key(std::string_view word) const {
    return is_small_ ? InCapitals(word) : std::string(word);
  }

  // Takes the token behind `at`. The statement needs a word that `further` has behind a >. Returns
  // false if the statement ends before it.
  bool Take(size_t& at, std::string_view further) {
    const size_t begin = SkipSpaces(line_, at);
    const char c = ByteAt(line_, begin);
    if (c == '\0') return false;
    if (const size_t quoted = QuotationEnd(line_, begin); quoted > begin) {
      if (before_ == Before::kName && depth_ == 0) return false;
      before_ = Before::kName;
      at = quoted;
      return true;
    }
    if (IsIdentifierByte(c)) return TakeWord(at, begin, further);
    // A stop or comma behind the last word is that of the sentence.
    constexpr std::string_view kSigns = "=<>!*+-/%,().;|:?";
    if (kSigns.find(c) == std::string_view::npos) return false;
    const bool at_end = SkipSpaces(line_, begin + 1) == line_.size();
    if ((c == '.' || c == ',' || c == ':' || c == '!' || c == '?') &&
        (at_end || (c != ',' && ByteAt(line_, begin + 1) == ' ')))
      return false;
    if (c == ',' && !NameFollows(begin + 1)) return false;
    if (c == '(') ++depth_;
    if (c == ')' && depth_-- == 0) return false;
    has_star_ = has_star_ || (c == '*' && before_ == Before::kKeyword);
    has_ended_ = c == ';';
    before_ = c == ')' || c == '*' ? Before::kName : Before::kSign;
    at = begin + 1;
    return true;
  }

  bool TakeWord(size_t& at, size_t begin, std::string_view further) {
    const std::string_view word = WordAt(begin);
    const std::string key = Key(word);
    const bool is_keyword = IsCodeWord(key, "sql");
    if (is_keyword) {
      is_complete_ = is_complete_ || HasWord(further, ">" + key);
      before_ = Before::kKeyword;
    } else {
      // Two names in a row are a name and its alias.
      constexpr size_t kLongestAlias = 2;
      const std::string_view next = WordAt(SkipSpaces(line_, begin + word.size()));
      const bool keyword_follows = !next.empty() && IsCodeWord(Key(next), "sql");
      const bool is_alias = word.size() <= kLongestAlias && !IsAsciiDigit(word.front()) &&
                            (keyword_follows || !IsCodeWord(word, "sentence"));
      if (before_ == Before::kName && depth_ == 0 && !is_alias) return false;
      has_small_name_ = has_small_name_ || std::ranges::any_of(word, IsAsciiLower);
      before_ = Before::kName;
    }
    at = begin + word.size();
    return true;
  }

  bool NameFollows(size_t at) const {
    if (depth_ > 0) return true;
    const std::string_view word = WordAt(SkipSpaces(line_, at));
    return !word.empty() && !IsCodeWord(word, "sentence");
  }

  const std::string_view line_;
  Before before_ = Before::kKeyword;
  size_t depth_ = 0;
  bool is_small_ = false;     // the keywords are in small letters
  bool is_complete_ = false;  // it has what a statement of its kind needs
  bool has_ended_ = false;    // by a semicolon
  bool has_star_ = false;
  bool has_small_name_ = false;
};

bool BeginsCommand(std::string_view word) {
  return word == "sudo" || FindProgram(word).has_value();
}

// Tells what the word before a command says of it.
enum class Introduction { kNone, kMention, kOrder };

// Reads a command from the name of its program on.
class CommandReader {
 public:
  // is_line: the line has nothing before the command but a prompt.
  CommandReader(std::string_view line, Introduction introduction, bool is_line)
      : line_(line), introduction_(introduction), is_line_(is_line) {}

  size_t End() {
    size_t at = WordEnd(0);
    const std::string_view name = line_.substr(0, at);
    if (name == "sudo") {
      const size_t next = SkipSpaces(line_, at);
      const size_t end = CommandReader(line_.substr(next), Introduction::kOrder, is_line_).End();
      return end == 0 ? 0 : next + end;
    }
    const std::optional<Program> program = FindProgram(name);
    if (!program) return 0;
    const size_t next = SkipSpaces(line_, at);
    const std::string_view subcommand = line_.substr(next, WordEnd(next) - next);
    const bool has_subcommand = !subcommand.empty() && HasWord(program->subcommands, subcommand);
    if (has_subcommand) at = next + subcommand.size();
    // "Make clean copies" is none, "go get help" neither.
    const size_t second = SkipSpaces(line_, at);
    const bool has_two = has_subcommand && HasWord(program->arguments,
                                                   line_.substr(second, WordEnd(second) - second));
    bool is_command =
        has_two || (has_subcommand && (!program->is_word || introduction_ != Introduction::kNone));
    size_t sure = is_command ? at : 0;  // the end of what is a command whatever follows
    while (!has_ended_) {
      const size_t begin = SkipSpaces(line_, at);
      if (begin == line_.size() || begin == at) break;
      const bool may_be_word = program->is_word && !is_command;
      size_t end = ArgumentEnd(begin, may_be_word, name);
      if (end == begin && is_command) end = NamedEnd(begin, program->arguments);
      if (end > begin) {
        is_command = true;
      } else {
        end = WordsEnd(begin);
        if (end == begin) break;
        const size_t behind = SkipSpaces(line_, end);
        const bool joins =
            JointBytes(behind) > 1 || (is_command && behind > end && behind < line_.size() &&
                                       ArgumentEnd(behind, false, name) > behind);
        const bool is_introduced = has_subcommand
                                       ? introduction_ != Introduction::kNone
                                       : introduction_ == Introduction::kOrder && !may_be_word;
        is_command = is_command || joins || is_introduced;
        if (!joins && !is_introduced && !EndsLine(end)) break;
      }
      at = end;
      if (is_command) sure = at;
    }
    // "Go get help" is none.
    const bool is_named = has_subcommand && (!program->is_word || at == next + subcommand.size());
    const bool is_whole = (is_command || is_named) && EndsLine(at);
    return is_whole ? at : sure;
  }

 private:
  bool EndsLine(size_t at) const { return is_line_ && SkipSpaces(line_, at) == line_.size(); }

  size_t WordEnd(size_t at) const {
    size_t end = at;
    while (end < line_.size() && end - at < kLongestWordOfCode &&
           (IsIdentifierByte(line_[end]) || line_[end] == '-'))
      ++end;
    return end;
  }

  std::string_view TokenAt(size_t at) const {
    return line_.substr(at, std::min(line_.find_first_of(" \t", at), line_.size()) - at);
  }

  // Returns the length of what joins two commands or a command and a file; 0 if there is none.
  size_t JointBytes(size_t at) const {
    constexpr std::array<std::string_view, 9> kJoints = {"&&", "||", "|",    ">", ">>",
                                                         "<",  "2>", "2>&1", "\\"};
    const std::string_view token = TokenAt(at);
    return std::ranges::find(kJoints, token) != kJoints.end() ? token.size() : 0;
  }

  // Returns the end of what can only be an argument, or joins two commands; `at` if it is none.
  // may_be_word: the program before may be a word of a sentence.
  size_t ArgumentEnd(size_t at, bool may_be_word, std::string_view program) {
    const bool is_printer = program == "echo";
    if (const size_t quoted = QuotationEnd(line_, at); quoted > at)
      return may_be_word && !is_printer ? at : quoted;
    if (const size_t joint = JointBytes(at); joint > 0) {
      if (may_be_word) return at;
      // A program or a file follows.
      const size_t next = SkipSpaces(line_, at + joint);
      return next < line_.size() ? Trimmed(next) : at + joint;
    }
    const size_t end = Trimmed(at);
    const std::string_view token = line_.substr(at, end - at);
    const bool was_ended = has_ended_;
    has_ended_ = false;
    const bool is_option = token.size() > 1 && token.front() == '-' && token.back() != '-' &&
                           (IsAsciiAlnum(token[1]) || token[1] == '-');
    const bool is_folder = token.starts_with("./") || token.starts_with("../") ||
                           token.starts_with("~/") ||
                           (token.size() > 1 && token.front() == '/' && IsAsciiLetter(token[1]));
    const bool is_variable = token.size() > 1 && token.front() == '$' && !IsAsciiDigit(token[1]);
    // FILE.txt, but not e.g., 2.5.
    const size_t dot = token.rfind('.');
    const bool is_file = dot != std::string_view::npos && dot > 1 && dot + 1 < token.size() &&
                         IsAsciiLetter(token[dot + 1]) && token.size() - dot <= 6;
    const size_t equals = token.find('=');
    const bool is_setting =
        equals != std::string_view::npos && equals > 0 && IsIdentifierByte(token[0]);
    const bool is_hidden = token.size() > 2 && token[0] == '.' && IsAsciiLetter(token[1]);
    const bool is_here = token == "." && line_.substr(end).starts_with(" -");
    bool is_argument = is_option || is_folder || is_hidden || is_file || is_setting || is_here ||
                       (is_variable && (!may_be_word || is_printer || program == "cd"));
    if (!may_be_word) {
      const bool is_alone = token == "." || token == "*";
      const size_t sign = token.find_first_of("./=@:~*+");
      is_argument = is_argument || is_alone ||
                    (!token.empty() && std::ranges::all_of(token, IsAsciiDigit)) ||
                    (token.size() > 1 && sign != std::string_view::npos &&
                     (sign == 0 || sign + 1 < token.size() || token.back() == '/'));
    }
    if (!is_argument) return at;
    has_ended_ = was_ended;
    if (!is_setting) return end;
    // NAME="two words"
    const size_t value = at + equals + 1;
    const size_t quoted = QuotationEnd(line_, value);
    return quoted > value ? quoted : end;
  }

  // Returns the end of a word that is known as an argument, `at` if it is none.
  size_t NamedEnd(size_t at, std::string_view arguments) {
    const bool was_ended = has_ended_;
    const size_t end = Trimmed(at);
    if (HasWord(arguments, line_.substr(at, end - at))) return end;
    has_ended_ = was_ended;
    return at;
  }

  // Returns the end of a token without the marks of the sentence behind it.
  size_t Trimmed(size_t at) {
    const size_t end = at + TokenAt(at).size();
    size_t last = end;
    constexpr std::string_view kMarks = ".,;:!?)\"'";
    while (last > at + 1 && kMarks.find(line_[last - 1]) != std::string_view::npos) --last;
    has_ended_ = last < end;
    return last;
  }

  // Returns the end of words that may be arguments: those up to the end of the line, a mark, an
  // argument or a word with which the sentence goes on; `at` if there are none.
  size_t WordsEnd(size_t at) {
    constexpr size_t kMostWords = 3;
    constexpr std::string_view kMarks = ".,;:!?)";
    size_t end = at;
    size_t next = at;
    for (size_t words = 0; next < line_.size(); ++words) {
      const size_t word_end = WordEnd(next);
      const std::string_view word = line_.substr(next, word_end - next);
      if (word.empty() || IsCodeWord(word, "sentence")) return end;
      if (words == kMostWords) return at;
      if (word_end < line_.size() && line_[word_end] != ' ') {
        const char behind = ByteAt(line_, word_end + 1);
        has_ended_ = kMarks.find(line_[word_end]) != std::string_view::npos &&
                     (behind == '\0' || behind == ' ');
        return has_ended_ ? word_end : end;
      }
      end = word_end;
      next = SkipSpaces(line_, word_end);
      if (!IsIdentifierByte(ByteAt(line_, next))) return end;
    }
    return end;
  }

  const std::string_view line_;
  const Introduction introduction_;
  const bool is_line_;
  bool has_ended_ = false;  // the sentence has, behind the last argument
};

// Returns what the word before `at` says of what follows.
Introduction IntroductionBefore(std::string_view text, size_t at) {
  size_t end = at;
  while (end > 0 && text[end - 1] == ' ') --end;
  if (end > 0 && end < at && text[end - 1] == ':') return Introduction::kOrder;
  size_t begin = end;
  while (begin > 0 && end - begin < kLongestWordOfCode && IsAsciiLetter(text[begin - 1])) --begin;
  const std::string word = AsciiLower(text.substr(begin, end - begin));
  if (IsCodeWord(word, "order")) return Introduction::kOrder;
  return IsCodeWord(word, "mention") ? Introduction::kMention : Introduction::kNone;
}

// Returns true if only the prompt of a shell stands before `at` in its line.
bool BeginsLineOfShell(std::string_view text, size_t at) {
  constexpr std::string_view kPrompts = "$#>%";
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  if (at > 0 && kPrompts.find(text[at - 1]) != std::string_view::npos) --at;
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  return at == 0 || text[at - 1] == '\n';
}

}  // namespace

size_t CodeStatementEnd(std::string_view text, size_t at) {
  if (!IsAsciiLetter(ByteAt(text, at))) return 0;
  // Most words begin no statement.
  std::string_view line = text.substr(at, kLongestStatement);
  size_t word = 0;
  while (word < line.size() && word < kLongestWordOfCode &&
         (IsIdentifierByte(line[word]) || line[word] == '-'))
    ++word;
  const std::string_view first = line.substr(0, word);
  const bool begins_sql = SqlReader::Begins(first);
  if (!begins_sql && !BeginsCommand(first)) return 0;
  line = line.substr(0, line.find_first_of("\r\n"));
  if (begins_sql) {
    const size_t end = SqlReader(line).End();
    return end == 0 ? 0 : at + end;
  }
  const Introduction introduction = IntroductionBefore(text, at);
  const size_t end = CommandReader(line, introduction, BeginsLineOfShell(text, at)).End();
  return end == 0 ? 0 : at + end;
}

}  // namespace millrace::models
