#include "models/translation/translation_guard.h"

#include <algorithm>
#include <string>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "models/text/unspaced_script.h"
#include "models/translation/clause_cut.h"
#include "models/translation/copied_names.h"
#include "models/translation/markup/number_repair.h"
#include "models/translation/markup/word_lists.h"
#include "models/translation/word_list.h"

namespace millrace::translation {
namespace {

// Sentences with fewer tokens have too little of anything to compare.
constexpr size_t kFewestTokens = 8;
constexpr size_t kMediumSentence = 12;
constexpr size_t kLongSentence = 24;  // tokens

// Returns true if a run of tokens comes three times in a row.
bool Loops(std::span<const int32_t> tokens) {
  constexpr size_t kLongestPeriod = 16;
  constexpr size_t kFewestRepeated = 4;  // tokens after the first time
  for (size_t period = 1; period <= kLongestPeriod && 3 * period <= tokens.size(); ++period) {
    size_t run = 0;
    for (size_t i = period; i < tokens.size(); ++i) {
      run = tokens[i] == tokens[i - period] ? run + 1 : 0;
      if (run >= std::max(2 * period, kFewestRepeated)) return true;
    }
  }
  return false;
}

// Returns how often the commonest run of `length` tokens occurs.
size_t CommonestRun(std::span<const int32_t> tokens, size_t length) {
  if (tokens.size() < length) return 0;
  std::vector<uint64_t> runs;
  runs.reserve(tokens.size());
  for (size_t i = 0; i + length <= tokens.size(); ++i) {
    uint64_t hash = 0;
    for (const int32_t token : tokens.subspan(i, length))
      hash = (hash ^ static_cast<uint32_t>(token)) * 0x9E3779B97F4A7C15;
    runs.push_back(hash);
  }
  std::ranges::sort(runs);
  size_t most = 0;
  for (size_t i = 0; i < runs.size();) {
    size_t end = i;
    while (end < runs.size() && runs[end] == runs[i]) ++end;
    most = std::max(most, end - i);
    i = end;
  }
  return most;
}

bool RepeatsItself(const GuardedTranslation& translation) {
  constexpr size_t kFew = 3;
  if (Loops(translation.target_tokens)) return !Loops(translation.source_tokens);
  const size_t repeated = CommonestRun(translation.target_tokens, /*length=*/4);
  // Two tokens are the least that a source can say again in whatever words.
  return repeated >= kFew && repeated > CommonestRun(translation.source_tokens, /*length=*/2) + 1;
}

bool HasStrangeLength(const GuardedTranslation& translation) {
  const auto source = static_cast<double>(translation.source_tokens.size());
  const double least = source < static_cast<double>(kMediumSentence) ? 0.3 : 0.4;
  constexpr double kMost = 2.2;
  const auto target = static_cast<double>(translation.target_tokens.size());
  return translation.reached_limit || target < least * source || target > kMost * source;
}

// Returns the parts of a text between commas and semicolons of any script, without space around
// them.
std::vector<std::string_view> PartsOf(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const models::CodePoint c = models::DecodeAt(text, at);
    const size_t end = at;
    at += c.bytes;
    const bool wide = c.value == 0x3001 || c.value == 0xFF0C || c.value == 0xFF1B;
    const bool narrow = c.value == ',' || c.value == ';' || c.value == 0x060C;
    if (!wide && (!narrow || models::IsAsciiDigit(models::ByteAt(text, at)))) continue;
    parts.push_back(models::Trim(text.substr(begin, end - begin)));
    begin = at;
  }
  parts.push_back(models::Trim(text.substr(begin)));
  return parts;
}

// Returns true if most parts are a few words, as those of an enumeration are.
bool IsList(std::span<const std::string_view> parts) {
  constexpr size_t kMostWords = 3;  // the words of an item
  // A clause of Chinese or Japanese may be as short as that.
  constexpr size_t kMostUnspacedWords = 2;
  size_t short_parts = 0;
  for (const std::string_view part : parts) {
    const size_t most = models::EndsUnspaced(part) ? kMostUnspacedWords : kMostWords;
    if (models::CountWords(part) <= most) ++short_parts;
  }
  return 4 * short_parts >= 3 * parts.size();
}

// Returns how many parts come again, but for letters of the other case.
size_t CountRepeated(std::span<const std::string_view> parts) {
  std::vector<std::string> sorted;
  for (const std::string_view part : parts) {
    const size_t end = part.find_last_not_of(".!?");
    sorted.push_back(models::AsciiLower(part.substr(0, end + 1)));
  }
  std::ranges::sort(sorted);
  const auto again = std::unique(sorted.begin(), sorted.end());
  return static_cast<size_t>(sorted.end() - again);
}

// Returns true if a part of a translation comes again in place of another. If there are more parts
// than in the source, it stands for words such as "then" and "next".
bool ComesAgain(std::span<const std::string_view> got, std::span<const std::string_view> wanted) {
  return got.size() <= wanted.size() && CountRepeated(got) > CountRepeated(wanted);
}

constexpr size_t kFewestParts = 4;   // the parts of a list
constexpr size_t kFewestJoined = 3;  // the same of one without commas

// Returns the parts of a text between commas, semicolons and words such as "or"; none if those of
// the language are not known.
std::vector<std::string_view> ItemsOf(std::string_view text, std::string_view language) {
  std::vector<std::string_view> items;
  for (const std::string_view part : PartsOf(text)) {
    const std::vector<std::string_view> joined = PartsBetweenJoints(part, language);
    items.insert(items.end(), joined.begin(), joined.end());
  }
  return items;
}

// Returns true if an item of a list comes again: "monthly or monthly".
bool RepeatsItem(const GuardedTranslation& translation) {
  const std::vector<std::string_view> wanted =
      ItemsOf(translation.source, translation.source_language);
  const std::vector<std::string_view> got =
      ItemsOf(translation.target, translation.target_language);
  return wanted.size() > 1 && ComesAgain(got, wanted);
}

// Returns true if items are absent from a list without commas: "milk and bread and eggs".
bool LacksJoinedItems(const GuardedTranslation& translation) {
  const std::vector<std::string_view> wanted =
      PartsBetweenJoints(translation.source, translation.source_language);
  if (wanted.size() < kFewestJoined) return false;
  const std::vector<std::string_view> got =
      ItemsOf(translation.target, translation.target_language);
  return !got.empty() && got.size() < wanted.size();
}

// Returns the words of a list without separators. What is left of one that was divided may be
// short.
size_t FewestWords(const GuardedTranslation& translation) {
  constexpr size_t kWhole = 4;
  constexpr size_t kHalf = 2;
  return translation.is_half ? kHalf : kWhole;
}

// Returns true if an enumeration lacks items, or another sentence many of its commas.
bool LacksParts(const GuardedTranslation& translation) {
  constexpr size_t kManyParts = 6;
  const std::vector<std::string_view> wanted = PartsOf(translation.source);
  const std::vector<std::string_view> got = PartsOf(translation.target);
  // One word may stand for a part: "then open it" for "em seguida, abra".
  const bool has_fewer_words =
      4 * models::CountWords(translation.target) < 3 * models::CountWords(translation.source);
  if (translation.is_half && wanted.size() > 1 && IsList(wanted) && got.size() < wanted.size() &&
      has_fewer_words)
    return true;
  if (wanted.size() + 1 < kFewestParts) return false;
  // A list of three things is suspicious only if one comes again.
  if (wanted.size() < kFewestParts) return IsList(wanted) && ComesAgain(got, wanted);
  if (IsList(wanted)) {
    // English may have a comma before the last "and".
    const size_t spare = BeginsWithConjunction(wanted.back(), translation.source_language) ? 1 : 0;
    return got.size() + spare < wanted.size() || ComesAgain(got, wanted);
  }
  // Chinese and Japanese separate clauses with commas that other languages do without.
  if (models::EndsUnspaced(translation.source) && !models::EndsUnspaced(translation.target))
    return false;
  return wanted.size() >= kManyParts && 4 * got.size() < 3 * wanted.size();
}

// Returns true if a sentence has an end mark, behind which there may be quotes and brackets.
bool HasEndMark(std::string_view text) {
  constexpr size_t kMostClosers = 3;
  constexpr std::u32string_view kMarks = U".!?…:;。！？।؟։។።";
  for (size_t closers = 0; !text.empty() && closers <= kMostClosers;) {
    const models::CodePoint c = models::DecodeBefore(text, text.size());
    if (kMarks.find(c.value) != std::u32string_view::npos) return true;
    if (models::IsWordCharacter(c.value)) return false;
    if (!models::IsSpace(c.value)) ++closers;
    text.remove_suffix(c.bytes);
  }
  return false;
}

// Returns the longest run of source tokens that no target token is aligned with.
size_t LongestUnaligned(const GuardedTranslation& translation) {
  std::vector<bool> aligned(translation.source_tokens.size(), false);
  for (const int32_t token : translation.alignment) {
    const size_t place = static_cast<size_t>(token) - translation.frame_before;
    if (place < aligned.size()) aligned[place] = true;
  }
  size_t longest = 0;
  size_t run = 0;
  for (const bool is_aligned : aligned) {
    run = is_aligned ? 0 : run + 1;
    longest = std::max(longest, run);
  }
  return longest;
}

// Returns true if no word can stand for a number of the source, a view into it: it has three digits
// or more, is a sum of money, or is part of a code such as 978-3-16 or 23:59:59.
bool IsCertainNumber(std::string_view source, std::string_view number) {
  if (static_cast<size_t>(std::ranges::count_if(number, models::IsAsciiDigit)) >= kFewestDigits)
    return true;
  const auto begin = static_cast<size_t>(number.data() - source.data());
  const size_t end = begin + number.size();
  constexpr std::u32string_view kMoney = U"$€£¥";
  if (begin > 0 &&
      kMoney.find(models::DecodeBefore(source, begin).value) != std::u32string_view::npos)
    return true;
  return std::ranges::any_of(FindCodes(source), [&](const WrittenNumber& code) {
    return code.begin <= begin && end <= code.end;
  });
}

// Returns true if a translation may say short numbers of the source in words or other numbers, or
// if the words of its language are not known.
bool MayHaveOthers(const GuardedTranslation& translation) {
  const std::string known = "numbers " + PrimarySubtag(translation.target_language);
  if (!HasList(known)) return true;
  const size_t wanted = FindNumbers(translation.source).size();
  const size_t got = FindNumbers(translation.target).size();
  if (got >= wanted) return true;
  std::string word;
  for (const char c : translation.target) {
    if (models::IsAsciiLetter(c) || static_cast<unsigned char>(c) >= 0x80) {
      word += models::AsciiLower(c);
      continue;
    }
    if (IsListed(known, word)) return true;
    word.clear();
  }
  return IsListed(known, word);
}

// Returns the parts of a text in brackets that are words of their own, as views into it.
std::vector<std::string_view> BracketsOf(std::string_view text) {
  std::vector<std::string_view> found;
  for (size_t open = text.find('('); open != std::string_view::npos;
       open = text.find('(', open + 1)) {
    const size_t close = text.find(')', open);
    if (close == std::string_view::npos) break;
    const bool joined = open > 0 && models::IsWordCharacter(models::DecodeBefore(text, open).value);
    if (!joined && close > open + 1) found.push_back(text.substr(open, close + 1 - open));
  }
  return found;
}

// Returns where the few words behind a colon at the end of a text begin, such as a name; 0 if there
// are none.
size_t BehindColon(std::string_view text) {
  constexpr size_t kMostWords = 3;
  const size_t colon = text.rfind(": ");
  if (colon == std::string_view::npos || colon == 0) return 0;
  const size_t behind = text.find_first_not_of(' ', colon + 1);
  if (behind == std::string_view::npos || models::CountWords(text.substr(behind)) > kMostWords)
    return 0;
  return behind;
}

// Returns true for the words of a name: each begins with a capital but for short ones.
bool IsName(std::string_view words) {
  constexpr size_t kShortWord = 3;  // bytes: Rio de Janeiro
  for (size_t at = 0; at <= words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    const char32_t first = models::DecodeAt(words, at).value;
    if (!models::IsUpper(first) && (at == 0 || !models::IsLower(first) || end - at > kShortWord))
      return false;
    at = end + 1;
  }
  return true;
}

// Returns true if a name behind a label seems to have become another one, such as "City: New York"
// "City: Rio de Janeiro": no word of it begins like one of the source, and the label stayed, or the
// name has several words in either language.
bool BecameOtherName(const GuardedTranslation& translation, size_t behind_colon) {
  constexpr size_t kAlike = 3;  // letters that words of one root begin with
  const std::string_view name = models::Trim(translation.source.substr(behind_colon));
  const size_t colon = translation.target.rfind(": ");
  if (colon == std::string_view::npos || !IsName(name)) return false;
  const std::string_view got = models::Trim(translation.target.substr(colon + 1));
  const std::string_view label = translation.source.substr(0, translation.source.rfind(": "));
  const std::string_view got_label = translation.target.substr(0, colon);
  const std::string all = " " + models::AsciiLower(got);
  for (size_t at = 0; at < name.size();) {
    const size_t end = std::min(name.find(' ', at), name.size());
    const std::string beginning = models::AsciiLower(name.substr(at, std::min(end - at, kAlike)));
    if (models::IsUpper(models::DecodeAt(name, at).value) &&
        all.find(" " + beginning) != std::string::npos)
      return false;
    at = end + 1;
  }
  return got_label == label || models::CountWords(name) > 1 || models::CountWords(got) > 1;
}

// Returns true if a text has the same letter many times in a row, as no word has.
bool HasLetterRun(std::string_view text) {
  constexpr size_t kMany = 6;
  size_t run = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    run = at > 0 && text[at] == text[at - 1] && models::IsAsciiLetter(text[at]) ? run + 1 : 1;
    if (run == kMany) return true;
  }
  return false;
}

// Returns true if a text has the same word three times in a row.
bool RepeatsWord(std::string_view text) {
  constexpr size_t kMany = 3;
  std::string before;
  size_t run = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = std::min(text.find_first_not_of(' ', at), text.size());
    at = std::min(text.find(' ', begin), text.size());
    std::string word = models::AsciiLower(text.substr(begin, at - begin));
    word.resize(word.find_last_not_of(".,;:!?") + 1);  // npos + 1 is 0
    run = !word.empty() && word == before ? run + 1 : 1;
    if (run == kMany) return true;
    before = std::move(word);
  }
  return false;
}

// Returns true if a text has a letter.
bool HasLetter(std::string_view text) {
  return std::ranges::any_of(models::DecodeUtf8(text), models::IsLetter);
}

}  // namespace

GuardVerdict InspectTranslation(const GuardedTranslation& translation) {
  constexpr size_t kUnaligned = 10;
  constexpr size_t kShortNumbers = 2;
  GuardVerdict verdict;
  const size_t tokens = translation.source_tokens.size();
  if (translation.source.find_first_of("0123456789") != std::string_view::npos) {
    verdict.lost_parts = LostNumbers(translation.source, translation.target, translation.formats);
    // Words may stand for short numbers, but other numbers of several digits may not.
    const bool adds_number =
        !verdict.lost_parts.empty() &&
        AddsNumber(translation.source, translation.target, translation.formats);
    const bool has_others = !verdict.lost_parts.empty() && MayHaveOthers(translation);
    const auto is_short = [&](std::string_view number) {
      return !adds_number && !IsCertainNumber(translation.source, number) && has_others;
    };
    const size_t shorter = std::erase_if(verdict.lost_parts, is_short);
    verdict.suspicious = !verdict.lost_parts.empty() ||
                         (shorter >= kShortNumbers && tokens >= kLongSentence) ||
                         (shorter > 0 && tokens >= kAlignedSentence);
  }
  verdict.lost_item = RepeatsItem(translation) || LacksJoinedItems(translation) ||
                      (IsWordList(translation.source, FewestWords(translation)) &&
                       LacksListedWords(translation.source, translation.target)) ||
                      ((translation.is_half || tokens < kFewestTokens) && LacksParts(translation));
  verdict.loops = (RepeatsWord(translation.target) && !RepeatsWord(translation.source)) ||
                  (HasLetterRun(translation.target) && !HasLetterRun(translation.source));
  if (tokens < kFewestTokens) {
    // An addition to a few words may be cut already, to shape them like their source.
    constexpr size_t kMoreWords = 2;
    const bool is_unspaced = models::EndsUnspaced(translation.target);
    const size_t words = models::CountWords(translation.source);
    const bool is_long =
        words == 1 || is_unspaced || models::CountWords(translation.target) > words + kMoreWords;
    verdict.lost_content = (translation.reached_limit && is_long) || verdict.lost_item ||
                           (translation.target_tokens.empty() && tokens > 0) ||
                           ((verdict.loops || is_unspaced) && Loops(translation.target_tokens) &&
                            !Loops(translation.source_tokens));
  } else {
    verdict.lost_content =
        verdict.lost_item || HasStrangeLength(translation) || RepeatsItself(translation) ||
        LacksParts(translation) ||
        (tokens >= kLongSentence && HasEndMark(translation.source) &&
         !HasEndMark(translation.target)) ||
        (!translation.alignment.empty() && LongestUnaligned(translation) >= kUnaligned);
  }
  // A bracket that the translation has may come in another script.
  if (const std::vector<std::string_view> brackets = BracketsOf(translation.source);
      !brackets.empty()) {
    const bool wide = translation.target.find("（") != std::string_view::npos;
    const auto got = static_cast<size_t>(std::ranges::count(translation.target, '('));
    if (!wide && got < brackets.size() && (got == 0 || brackets.size() == 1))
      verdict.lost_parts.insert(verdict.lost_parts.end(), brackets.begin(), brackets.end());
  }
  constexpr std::string_view kWideColon = "：";
  if (translation.target.find(": ") == std::string_view::npos &&
      translation.target.find(kWideColon) == std::string_view::npos)
    verdict.lost_colon = BehindColon(translation.source);
  if (const size_t behind = BehindColon(translation.source);
      behind > 0 && BecameOtherName(translation, behind))
    verdict.lost_colon = behind;
  verdict.suspicious = verdict.suspicious || !verdict.lost_parts.empty() || verdict.lost_colon > 0;
  const bool lost_words = HasLetter(translation.source) && !HasLetter(translation.target);
  verdict.only_number = lost_words && std::ranges::any_of(translation.target, models::IsAsciiDigit);
  // The last word of a sentence that a model gives up has a space behind it: "ele desligou e au ."
  constexpr std::string_view kBrokenOff = " .";
  const bool breaks_off =
      translation.target.ends_with(kBrokenOff) && !translation.source.ends_with(kBrokenOff);
  verdict.lost_content = verdict.lost_content || lost_words || breaks_off || verdict.loops;
  verdict.suspicious = verdict.suspicious || verdict.lost_content;
  return verdict;
}

bool IsEasilyLost(std::string_view source, size_t tokens, std::string_view language) {
  constexpr size_t kManyTokens = 56;
  constexpr size_t kFewParts = 2;
  const size_t parts = PartsOf(source).size();
  if (tokens > kManyTokens || (tokens >= kLongSentence && !HasEndMark(source)) ||
      parts >= kFewestParts || (parts >= kFewParts && tokens < kMediumSentence) ||
      BehindColon(source) > 0 || PartsBetweenJoints(source, language).size() >= kFewestJoined ||
      IsWordList(source, kFewestParts) || !CopiedNames(source).empty() ||
      source.find('(') != std::string_view::npos) {
    return true;
  }
  return source.find_first_of("0123456789") != std::string_view::npos;
}

}  // namespace millrace::translation
