#include "models/translation/markup/readings.h"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <utility>
#include <vector>

#include "models/core/embedded_table.h"
#include "models/core/strings.h"
#include "models/text/ascii.h"
#include "models/text/unicode.h"
#include "models/translation/markup/capitals.h"
#include "models/translation/markup/readings_text.h"
#include "models/translation/markup/word_lists.h"

namespace millrace::translation {
namespace {

constexpr size_t kFieldsOfReading =
    3;                       // the text or pattern, the languages, the translation or reading
constexpr char kSlot = '@';  // stands for a number or a kept span
using ReadingRow = models::TableRow<kFieldsOfReading>;

// Returns the end of a number with the signs between its digits: 10, 2.0.1, 9:30; `at` if none
// begins there.
size_t NumberEnd(std::string_view text, size_t at) {
  constexpr std::string_view kJoints = ".,:";
  size_t end = models::DigitsEnd(text, at);
  while (end > at && kJoints.find(models::ByteAt(text, end)) != std::string_view::npos &&
         models::DigitsEnd(text, end + 1) > end + 1)
    end = models::DigitsEnd(text, end + 1);
  return end;
}

// Returns an item of a list between separators; the last one if there are fewer.
std::string_view ItemAt(std::string_view list, char separator, size_t index) {
  for (size_t end = list.find(separator); index > 0 && end != std::string_view::npos; --index) {
    list.remove_prefix(end + 1);
    end = list.find(separator);
  }
  return list.substr(0, list.find(separator));
}

// A row with brackets.
struct ReadingPattern {
  std::string text;
  std::string reads;
  std::string_view sources;     // languages
  std::string_view others;      // empty, or the languages of targets that need no reading
  std::bitset<256> beginnings;  // the bytes that its matches begin with

  bool IsFor(const std::string& source, const std::string& target) const {
    return HasWord(sources, source) &&
           (others.empty() || (!target.empty() && !HasWord(others, target)));
  }
};

bool IsWordBoundary(std::string_view text, size_t at) {
  return at == 0 || !models::IsWordCharacter(models::DecodeBefore(text, at).value) ||
         !models::IsWordCharacter(models::DecodeAt(text, at).value);
}

// The match of a pattern, as the comment of the table describes it, at a place of a text.
class PatternMatch {
 public:
  struct Part {
    size_t begin = 0;
    size_t end = 0;
    std::string_view reads;
  };

  // The text and the pattern must outlive it.
  PatternMatch(std::string_view text, const ReadingPattern& pattern, size_t at)
      : text_(text), reads_(pattern.reads), begin_(at) {
    if (!Fits(pattern.text, at)) parts_.clear();
  }
  size_t begin() const { return begin_; }
  size_t end() const { return end_; }
  const std::vector<Part>& parts() const { return parts_; }

 private:
  bool Fits(std::string_view pattern, size_t at) {
    constexpr size_t kLongestGap = 64;
    constexpr std::string_view kMarks = ".!:;,";
    end_ = at;
    if (pattern.empty()) return IsWordBoundary(text_, at);
    const std::string_view rest = pattern.substr(1);
    const char c = models::ByteAt(text_, at);
    switch (pattern.front()) {
      case '*':
        return true;
      case '^':
        return at == 0 && Fits(rest, at);
      case '$':
        return c == '\0' || kMarks.find(c) != std::string_view::npos;
      case '#':
        return models::IsAsciiDigit(c) && Fits(rest, at + 1);
      case kSlot:
        return models::IsAsciiDigit(c) && Fits(rest, NumberEnd(text_, at));
      case '~':
        for (size_t end = at; end <= std::min(text_.size(), at + kLongestGap); ++end) {
          if (Fits(rest, end)) return true;
        }
        return false;
      case '(':
        return FitsAny(rest.substr(0, rest.find(')')), rest.substr(rest.find(')') + 1), at, false);
      case '[':
        return FitsAny(rest.substr(0, rest.find(']')), rest.substr(rest.find(']') + 1), at, true);
      default:
        return c == pattern.front() && Fits(rest, at + 1);
    }
  }

  // Returns true if one of some alternatives and what follows them fit.
  bool FitsAny(std::string_view all, std::string_view rest, size_t at, bool is_read) {
    for (size_t i = 0;; ++i) {
      const std::string_view one = all.substr(0, all.find('|'));
      if (text_.substr(at).starts_with(one)) {
        if (is_read)
          parts_.push_back(
              {at, at + one.size(), ItemAt(ItemAt(reads_, ';', parts_.size()), '|', i)});
        if (Fits(rest, at + one.size())) return true;
        if (is_read) parts_.pop_back();
      }
      if (one.size() == all.size()) return false;
      all.remove_prefix(one.size() + 1);
    }
  }

  std::string_view text_;
  std::string_view reads_;
  size_t begin_;
  size_t end_ = 0;
  std::vector<Part> parts_;
};

// Lets a model read parts of a text as other words, unless a mark or a kept span is there. A kept
// span of just the match was taken for a code.
void ReadAs(const PatternMatch& match, MarkedText& marked) {
  for (const PatternMatch::Part& part : match.parts()) {
    const auto event = std::ranges::upper_bound(marked.events, part.begin, {}, &MarkEvent::at);
    if (event != marked.events.end() && event->at <= part.end) continue;
    std::erase_if(marked.kept, [&match](const KeptSpan& kept) {
      return kept.begin == match.begin() && kept.end == match.end() && !kept.reads;
    });
    const auto kept = std::ranges::lower_bound(marked.kept, part.begin, {}, &KeptSpan::begin);
    if ((kept == marked.kept.begin() || (kept - 1)->end <= part.begin) &&
        (kept == marked.kept.end() || kept->begin >= part.end))
      marked.kept.insert(kept, {part.begin, part.end, Written(marked, part.begin, part.end),
                                part.reads, /*returns=*/false});
  }
}

// Returns the bytes that the matches of a pattern begin with.
std::bitset<256> BeginningsOf(std::string_view pattern) {
  std::bitset<256> all;
  const auto add = [&all](char c) { all.set(static_cast<unsigned char>(c)); };
  if (pattern.front() == '^') pattern.remove_prefix(1);
  if (pattern.front() == kSlot || pattern.front() == '#') {
    std::ranges::for_each(std::string_view("0123456789"), add);
  } else if (pattern.front() == '(' || pattern.front() == '[') {
    const std::string_view items = pattern.substr(1, pattern.find_first_of(")]") - 1);
    for (size_t at = 0; at < items.size(); at = std::min(items.find('|', at), items.size() - 1) + 1)
      add(items[at]);
  } else {
    add(pattern.front());
  }
  return all;
}

// Returns the rows with brackets, with the lists that they name. They are never destroyed, because
// texts refer to them.
const std::vector<ReadingPattern>& Patterns() {
  static const auto& patterns = *new std::vector<ReadingPattern>([] {
    std::vector<ReadingPattern> found;
    std::vector<ReadingRow> lists;
    for (const ReadingRow& row : models::ReadTable<kFieldsOfReading>(kReadingsText)) {
      if (row[1].empty()) lists.push_back(row);
      if (row[1].empty() || row[1].find('-') != std::string_view::npos) continue;
      ReadingPattern pattern;
      pattern.text = row[0];
      pattern.reads = row[2];
      for (const auto& [name, none, list] : lists) {
        for (std::string* text : {&pattern.text, &pattern.reads}) {
          for (size_t at = text->find(name); at != std::string::npos; at = text->find(name, at))
            text->replace(at, name.size(), list);
        }
      }
      pattern.sources = ItemAt(row[1], '!', 0);
      if (pattern.sources.size() < row[1].size()) pattern.others = ItemAt(row[1], '!', 1);
      pattern.beginnings = BeginningsOf(pattern.text);
      found.push_back(std::move(pattern));
    }
    return found;
  }());
  return patterns;
}

std::string_view PhraseOf(const std::string& small, bool has_capital, std::string_view direction) {
  static const auto& table = *new models::WordTable<kFieldsOfReading>(kReadingsText);
  for (const auto& [text, languages, translation] : table.FindAll(small)) {
    const bool is_of_interfaces = models::IsUpper(models::DecodeAt(translation, 0).value);
    if (languages == direction && (!is_of_interfaces || has_capital)) return translation;
  }
  return {};
}

}  // namespace

void PutReadings(MarkedText& marked, std::string_view language, std::string_view target_language) {
  const std::string source = PrimarySubtag(language);
  const std::string target = PrimarySubtag(target_language);
  std::vector<const ReadingPattern*> patterns;
  for (const ReadingPattern& pattern : Patterns()) {
    if (pattern.IsFor(source, target)) patterns.push_back(&pattern);
  }
  for (size_t at = 0; at < marked.text.size() && !patterns.empty(); ++at) {
    // Most characters are within a word.
    if (at > 0 && models::IsAsciiAlnum(marked.text[at]) &&
        models::IsAsciiAlnum(marked.text[at - 1]))
      continue;
    for (const ReadingPattern* const pattern : patterns) {
      if (pattern->beginnings[static_cast<unsigned char>(marked.text[at])] &&
          IsWordBoundary(marked.text, at))
        ReadAs(PatternMatch(marked.text, *pattern, at), marked);
    }
  }
}

std::string_view WithoutEndMarks(std::string_view text) {
  constexpr std::string_view kMarks = ".!?:,";
  return text.substr(0, text.find_last_not_of(kMarks) + 1);
}

std::string InterfacePhrase(const MarkedText& source, std::string_view source_language,
                            std::string_view target_language) {
  constexpr size_t kLongest = 64;  // bytes
  const std::string_view text = WithoutEndMarks(source.text);
  if (text.size() > kLongest || !source.events.empty() || !source.spellings.empty()) return {};
  std::string phrase;
  std::vector<std::string_view> slots;
  auto kept = source.kept.begin();
  for (size_t at = 0; at < text.size();) {
    const bool is_kept = kept != source.kept.end() && kept->begin == at;
    if (is_kept && kept->reads) return {};
    const size_t end = is_kept ? (kept++)->end : NumberEnd(text, at);
    if (end == at) {
      phrase += text[at++];
      continue;
    }
    slots.push_back(text.substr(at, end - at));
    phrase += kSlot;
    at = end;
  }
  const std::string direction =
      StrCat(PrimarySubtag(source_language), "-", PrimarySubtag(target_language));
  const std::string_view known =
      PhraseOf(LowerText(phrase), models::IsUpper(models::DecodeAt(phrase, 0).value), direction);
  if (static_cast<size_t>(std::ranges::count(known, kSlot)) != slots.size()) return {};
  std::string translation;
  auto slot = slots.begin();
  for (const char c : known) c == kSlot ? translation += * slot++ : translation += c;
  return translation;
}

}  // namespace millrace::translation
