#include "models/text/english/command_option.h"

#include <algorithm>
#include <array>

#include "models/text/ascii.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxNameBytes = 24;

// Returns true if " flag" and the like follow at `at`, perhaps behind a closing backtick.
bool OptionFollows(std::string_view text, size_t at) {
  if (ByteAt(text, at) == '`') ++at;
  constexpr std::array<std::string_view, 5> kNouns = {" argument", " flag", " option", " parameter",
                                                      " switch"};
  return std::ranges::any_of(kNouns, [&](auto noun) { return text.substr(at).starts_with(noun); });
}

// Returns true for words that go on with a sentence behind a dash: "it ended --and began again".
bool GoesOn(std::string_view word) {
  constexpr std::array<std::string_view, 25> kWords = {
      "a",  "all", "an", "and", "as", "at",   "but", "for",  "he",   "i",  "in",    "it", "not",
      "of", "on",  "or", "she", "so", "that", "the", "they", "this", "we", "which", "who"};
  return std::ranges::binary_search(kWords, word);
}

}  // namespace

bool IsCommand(std::string_view word) {
  constexpr std::array<std::string_view, 44> kCommands = {
      "apt",  "awk",  "bash",    "brew",   "cargo",   "cat",    "chmod", "chown", "cmake",
      "cp",   "curl", "df",      "docker", "du",      "find",   "gcc",   "git",   "go",
      "grep", "head", "install", "kill",   "kubectl", "ln",     "ls",    "make",  "mkdir",
      "mv",   "npm",  "ping",    "pip",    "ps",      "python", "rm",    "rsync", "scp",
      "sed",  "ssh",  "sudo",    "tail",   "tar",     "unzip",  "wget",  "zip"};
  static_assert(std::ranges::is_sorted(kCommands));
  return std::ranges::binary_search(kCommands, word);
}

bool IsCommandOption(std::string_view text, size_t at, size_t count, std::string_view previous) {
  if (count > 2) return false;
  const char before = at == 0 ? ' ' : text[at - 1];
  if (before != ' ' && before != '\n' && before != '`' && before != '[' && before != '(')
    return false;
  const size_t name = at + count;
  const size_t end = LettersEnd(text.substr(0, name + kMaxNameBytes), name);
  const std::string_view word = text.substr(name, end - name);
  if (word.empty()) return false;
  if (OptionFollows(text, end) || IsCommand(previous)) return true;
  const bool small = std::ranges::all_of(word, IsAsciiLower);
  if (count == 2) return small && word.size() > 1 && !GoesOn(word);
  // The endings of words have hyphens, too: "the suffix -s".
  const bool ending = previous == "suffix" || previous == "ending" || previous == "endings" ||
                      previous == "suffixes" || previous == "plural";
  // "x -y" is a difference.
  return small && word.size() == 1 && previous.size() != 1 && word != "a" && word != "i" &&
         !ending && !IsAsciiAlnum(ByteAt(text, end)) && ByteAt(text, end) != '-';
}

}  // namespace millrace::models
