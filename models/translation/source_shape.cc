#include "models/translation/source_shape.h"

#include <algorithm>
#include <vector>

#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "models/text/unspaced_script.h"
#include "models/translation/markup/word_lists.h"

namespace millrace::translation {
namespace {

constexpr size_t kShortWords = 3;
constexpr std::u32string_view kEndMarks = U".,;:!?…";
// The same marks in Chinese and Japanese, in the same order but for the ellipsis.
constexpr std::u32string_view kWideEndMarks = U"。，；：！？";

// A word of a text without the signs at its ends, in small letters.
std::string BareWord(std::string_view word) {
  std::string bare;
  for (const char32_t c : models::DecodeUtf8(word)) {
    if (models::IsWordCharacter(c) || models::IsLetter(c))
      bare += models::EncodeUtf8(models::ToLower(c));
  }
  return bare;
}

// Returns the words of a text between spaces, as views into it.
std::vector<std::string_view> WordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find_first_not_of(' ', at);
    if (begin == std::string_view::npos) break;
    at = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

// Returns true if a text says a word twice in a row. Without spaces between words, that are two
// equal letters, or equal words on both sides of a sign.
bool HasDoubledWord(std::string_view text) {
  std::string spaced;
  char32_t before = 0;
  for (size_t at = 0; at < text.size();) {
    const models::CodePoint c = models::DecodeAt(text, at);
    const bool is_letter = models::IsLetter(c.value);
    if (models::IsUnspaced(c.value) && is_letter && c.value == before) return true;
    before = c.value;
    spaced += models::IsUnspaced(c.value) && !is_letter ? " " : text.substr(at, c.bytes);
    at += c.bytes;
  }
  const std::vector<std::string_view> words = WordsOf(spaced);
  const auto equal = [](std::string_view a, std::string_view b) {
    return BareWord(a) == BareWord(b);
  };
  return std::ranges::adjacent_find(words, equal) != words.end();
}

void CutAt(size_t end, std::string& text) {
  text.resize(models::TrimRight(std::string_view(text).substr(0, end)).size());
}

// Removes words at the end that only say again what is before them: "Cancel Cancel", "Mr. Mr.".
void CutDoubled(std::string& text) {
  const std::vector<std::string_view> words = WordsOf(text);
  for (size_t period = 1; 2 * period <= words.size(); ++period) {
    const size_t first = words.size() - period;
    bool same = true;
    for (size_t i = first; i < words.size() && same; ++i) {
      const std::string bare = BareWord(words[i]);
      same = !bare.empty() && bare == BareWord(words[i - period]);
    }
    if (!same) continue;
    CutAt(static_cast<size_t>(words[first].data() - text.data()), text);
    CutDoubled(text);
    return;
  }
}

// Removes a second naming behind a comma, such as "Hello, the hello".
void CutSecondNaming(std::string& text) {
  const size_t comma = text.find(", ");
  if (comma == std::string::npos || comma == 0) return;
  const std::string first = BareWord(std::string_view(text).substr(0, comma));
  for (const std::string_view word : WordsOf(std::string_view(text).substr(comma + 1))) {
    if (BareWord(word) == first) return CutAt(comma, text);
  }
}

// Returns where the end marks of a text begin.
size_t MarksBegin(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0) {
    const models::CodePoint c = models::DecodeBefore(text, begin);
    if (kEndMarks.find(c.value) == std::u32string_view::npos &&
        kWideEndMarks.find(c.value) == std::u32string_view::npos) {
      break;
    }
    begin -= c.bytes;
  }
  return begin;
}

// Returns end marks with each that is in one list written as in the other.
std::string Rewritten(std::string_view marks, std::u32string_view from, std::u32string_view to) {
  std::string written;
  for (const char32_t c : models::DecodeUtf8(marks)) {
    const size_t place = from.find(c);
    written += models::EncodeUtf8(place < to.size() ? to[place] : c);
  }
  return written;
}

// Returns the end marks of a text as other languages than Chinese and Japanese write them.
std::string EndMarksOf(std::string_view text) {
  return Rewritten(text.substr(MarksBegin(text)), kWideEndMarks, kEndMarks);
}

// Replaces the end marks of a text, which begin at `begin`, and writes them as its script does.
void ReplaceMarks(size_t begin, const std::string& marks, std::string& text) {
  const bool wide = models::EndsUnspaced(std::string_view(text).substr(0, begin));
  text.resize(begin);
  text += wide && marks != "..." ? Rewritten(marks, kEndMarks, kWideEndMarks) : marks;
}

bool EndsWithWord(std::string_view text) {
  if (text.empty()) return false;
  const char32_t last = models::DecodeBefore(text, text.size()).value;
  return models::IsWordCharacter(last) || models::IsLetter(last);
}

// Returns true if the last word has a stop inside: "a.m.", "U.S."
bool EndsWithInitials(std::string_view text) {
  const std::string_view word = text.substr(text.rfind(' ') + 1);
  return word.substr(0, MarksBegin(word)).find('.') != std::string_view::npos;
}

// Removes spaces beside signs that have none in the source: "Yes / No" for "Sim/Não".
void CutSpacesAtSigns(std::string_view source, std::string& text) {
  constexpr std::string_view kSigns = "/+-*()[]\"'";
  const auto spaced = [](std::string_view in, size_t at, bool behind) {
    return behind ? at + 1 < in.size() && in[at + 1] == ' ' : at > 0 && in[at - 1] == ' ';
  };
  const auto places = [](std::string_view in, char sign) {
    std::vector<size_t> found;
    for (size_t at = in.find(sign); at != std::string_view::npos; at = in.find(sign, at + 1))
      found.push_back(at);
    return found;
  };
  for (const char sign : kSigns) {
    const std::vector<size_t> wanted = places(source, sign);
    const std::vector<size_t> got = places(text, sign);
    if (wanted.size() != got.size()) continue;
    for (size_t i = got.size(); i-- > 0;) {
      if (spaced(text, got[i], true) && !spaced(source, wanted[i], true)) text.erase(got[i] + 1, 1);
      if (spaced(text, got[i], false) && !spaced(source, wanted[i], false))
        text.erase(got[i] - 1, 1);
    }
  }
}

// Removes an article at the end that begins nothing.
void CutLoneArticle(std::string_view source, std::string& text) {
  if (text.size() > 2 && text.ends_with(" A") && !source.ends_with('A'))
    CutAt(text.size() - 2, text);
}

bool HasComma(std::string_view text) {
  return text.find(',') != std::string_view::npos || text.find("，") != std::string_view::npos ||
         text.find("、") != std::string_view::npos;
}

bool HasBracket(std::string_view text) {
  constexpr std::u32string_view kAll = U"()[]{}（）［］｛｝【】〔〕〈〉《》「」『』";
  for (const char32_t c : models::DecodeUtf8(text)) {
    if (kAll.find(c) != std::u32string_view::npos) return true;
  }
  return false;
}

// Removes the article before an English label whose source has none, and "to" before a verb: "The
// ideal place", "To refuse".
void CutAddedArticle(const SourceShape& source, std::string& text) {
  const std::string first = BareWord(source.text.substr(0, source.text.find(' ')));
  if (!source.target_language.starts_with("en") || source.any_first_letter || source.has_marks ||
      !EndMarksOf(source.text).empty() || IsListed("articles", first))
    return;
  const bool is_verb =
      text.starts_with("To ") && !text.starts_with("To the ") && !text.starts_with("To be ");
  const size_t added = text.starts_with("The ") ? 4 : is_verb ? 3 : 0;
  if (added == 0) return;
  const models::CodePoint letter = models::DecodeAt(text, added);
  text.replace(0, added + letter.bytes, models::EncodeUtf8(models::ToUpper(letter.value)));
}

// Removes what a model added to a few words behind a sign that their source lacks: "Not found -
// sdnn", "Not found \"be".
void CutAddedRemark(std::string_view source, std::string& text) {
  constexpr size_t kMostWords = 8;
  constexpr size_t kMostAdded = 2;
  if (source.find_first_of(",;\"") != std::string_view::npos ||
      source.find(" -") != std::string_view::npos || source.find("–") != std::string_view::npos ||
      source.find("—") != std::string_view::npos || models::CountWords(source) > kMostWords)
    return;
  size_t cut = text.find(" - ");
  if (std::ranges::count(text, '"') == 1) cut = std::min(cut, text.find('"'));
  if (cut == 0 || cut == std::string::npos) return;
  if (models::CountWords(std::string_view(text).substr(cut)) > kMostAdded) return;
  CutAt(cut, text);
}

// Removes what follows a word that stays as it is: "Downloads de livros" for "Downloads".
void CutBehindSame(std::string_view source, std::string& text) {
  constexpr size_t kShortest = 4;
  if (source.size() >= kShortest && source.find(' ') == std::string_view::npos &&
      text.size() > source.size() && text.starts_with(source) && text[source.size()] == ' ')
    text.resize(source.size());
}

// Removes words at the end that only lead on to others: "Thanks for", "none of the".
void CutLeadingOn(const SourceShape& source, std::string& text) {
  const auto last_word = [](std::string_view in) {
    return models::AsciiLower(in.substr(in.rfind(' ') + 1));
  };
  const std::string added = "leading on " + PrimarySubtag(source.target_language);
  if (IsListed("leading on", last_word(source.text))) return;
  while (text.find(' ') != std::string::npos && IsListed(added, last_word(text)))
    CutAt(text.rfind(' '), text);
}

void ShapeShort(std::string_view source, std::string& text) {
  constexpr std::string_view kBrackets = "()[]{}";
  if (!HasBracket(source)) {
    const size_t bracket = text.find_first_of(kBrackets);
    if (bracket != std::string::npos && bracket > 0) CutAt(bracket, text);
  }
  // A sign that stands alone begins something that the model added.
  for (const std::string_view word : WordsOf(text)) {
    const bool alone = word == "-" || word == "|" || word == "'s";
    if (!alone || source.find(word) != std::string_view::npos || word.data() == text.data())
      continue;
    CutAt(static_cast<size_t>(word.data() - text.data()), text);
    break;
  }
  CutLoneArticle(source, text);
  if (!HasComma(source)) CutSecondNaming(text);
  if (!HasComma(source) && models::CountWords(source) == 1)
    CutAt(std::min(text.find(", "), text.size()), text);
  if (!HasDoubledWord(source)) CutDoubled(text);
  const std::string wanted = EndMarksOf(source);
  const size_t begin = MarksBegin(text);
  if (begin == 0 || EndMarksOf(text) == wanted) return;
  if (wanted.empty()) {
    if (EndsWithWord(source) && !EndsWithInitials(text)) text.resize(begin);
  } else if (EndsWithWord(std::string_view(text).substr(0, begin))) {
    ReplaceMarks(begin, wanted, text);
  }
}

// Removes what opens brackets that the source closes alone: "b) green (c) blue".
void CutAddedOpening(std::string_view source, std::string& text) {
  if (source.find('(') != std::string_view::npos || source.find(')') == std::string_view::npos)
    return;
  std::erase(text, '(');
}

// Removes brackets at the end that the source lacks: "Acme Inc. (in English)."
void CutAddedBrackets(std::string_view source, std::string& text) {
  if (HasBracket(source)) return;
  const size_t end = MarksBegin(text);
  const size_t open = text.rfind('(', end);
  if (end == 0 || text[end - 1] != ')' || open == std::string::npos || open == 0) return;
  // A digit may be that of a stand-in.
  if (text.find_first_of("0123456789", open) < end) return;
  CutAt(open, text);
}

void ShapeEnd(std::string_view source, std::string& text) {
  CutAddedBrackets(source, text);
  CutAddedRemark(source, text);
  const std::string wanted = EndMarksOf(source);
  const size_t begin = MarksBegin(text);
  const std::string marks = EndMarksOf(text);
  if (begin == 0 || marks == wanted || !EndsWithWord(std::string_view(text).substr(0, begin)))
    return;
  const bool goes_on = wanted == "," || wanted == ";" || wanted == ":";
  // The stop of initials stays before the mark.
  if (wanted == "?" && marks == "." && text.find('?') == std::string::npos)
    return ReplaceMarks(EndsWithInitials(text) ? text.size() : begin, wanted, text);
  if (wanted.empty()) {
    if (EndsWithWord(source) && marks.size() == 1 && marks != "?" && !EndsWithInitials(text))
      text.resize(begin);
  } else if (marks.empty() || (goes_on && (marks == "." || marks == ","))) {
    ReplaceMarks(begin, wanted, text);
  }
}

// Returns the end of the number of a list's item that a text begins with, such as "1. " or "12) ";
// 0 if there is none.
size_t ItemNumberEnd(std::string_view text) {
  constexpr size_t kMostDigits = 3;
  const size_t end = models::DigitsEnd(text, 0, kMostDigits);
  const char sign = models::ByteAt(text, end);
  return end > 0 && (sign == '.' || sign == ')') && models::ByteAt(text, end + 1) == ' ' ? end + 2
                                                                                         : 0;
}

// Returns the place of the first letter of a text behind the number of an item; npos if there is
// something else than signs before it.
size_t FirstLetter(std::string_view text) {
  for (size_t at = ItemNumberEnd(text); at < text.size();) {
    const models::CodePoint c = models::DecodeAt(text, at);
    if (models::IsLetter(c.value)) return at;
    if (models::IsWordCharacter(c.value)) break;
    at += c.bytes;
  }
  return std::string_view::npos;
}

std::string_view LettersFrom(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && models::IsWordCharacter(models::DecodeAt(text, end).value))
    end += models::DecodeAt(text, end).bytes;
  return text.substr(at, end - at);
}

// Returns true if a word has a capital or a digit behind its first letter.
bool IsSpecial(std::string_view word) {
  for (size_t at = models::DecodeAt(word, 0).bytes; at < word.size();) {
    const models::CodePoint c = models::DecodeAt(word, at);
    if (models::IsUpper(c.value) || models::IsDigit(c.value)) return true;
    at += c.bytes;
  }
  return false;
}

bool KeepsCapital(std::string_view word, std::string_view language) {
  const std::string tag = PrimarySubtag(language);
  if (tag == "de" || tag == "lb") return true;
  if (tag != "en") return false;
  return IsListed("capitals en", word);
}

// Returns true if a text has small letters and no capitals.
bool IsInSmallLetters(std::string_view text) {
  bool small = false;
  for (const char32_t c : models::DecodeUtf8(text)) {
    if (models::IsUpper(c)) return false;
    small = small || models::IsLower(c);
  }
  return small;
}

void Replace(size_t at, char32_t letter, std::string& text) {
  const std::string written = models::EncodeUtf8(letter);
  const size_t bytes = models::DecodeAt(text, at).bytes;
  if (written.size() == bytes) text.replace(at, bytes, written);
}

// Writes the words of a translation in small letters if its source has no capitals: "dark Mode" for
// "modo escuro".
void LowerWords(const SourceShape& source, std::string& text) {
  if (source.any_first_letter || !IsInSmallLetters(source.text)) return;
  for (const std::string_view word : WordsOf(text)) {
    const models::CodePoint first = models::DecodeAt(word, 0);
    if (!models::IsUpper(first.value) || IsSpecial(word)) continue;
    if (KeepsCapital(LettersFrom(word, 0), source.target_language)) continue;
    Replace(static_cast<size_t>(word.data() - text.data()), models::ToLower(first.value), text);
  }
}

// Returns true if a text has pairs of ' around words and no other quotation marks.
bool QuotesOnlySingly(std::string_view text) {
  constexpr std::string_view kQuotes = "\"'";
  if (text.find(kQuotes[1]) == std::string_view::npos || text.find(kQuotes[0]) != text.npos)
    return false;
  size_t opening = 0;
  size_t closing = 0;
  for (size_t at = text.find(kQuotes[1]); at != text.npos; at = text.find(kQuotes[1], at + 1)) {
    const bool before = at > 0 && models::IsWordCharacter(models::DecodeBefore(text, at).value);
    const bool behind = models::IsWordCharacter(models::DecodeAt(text, at + 1).value);
    if (!before && behind) ++opening;
    if (!behind && at > 0 && text[at - 1] != ' ') ++closing;
  }
  return opening > 0 && opening == closing;
}

// Returns true if most words of a longer text begin with a capital, as those of a title do.
bool IsTitle(std::string_view text) {
  constexpr size_t kFewest = 3;
  const std::vector<std::string_view> words = WordsOf(text);
  const auto capitals = static_cast<size_t>(std::ranges::count_if(words, [](std::string_view word) {
    return models::IsUpper(models::DecodeAt(word, 0).value);
  }));
  return capitals >= kFewest && 2 * capitals > words.size();
}

}  // namespace

bool IsShort(std::string_view source) { return models::CountWords(source) <= kShortWords; }

std::string BegunLike(const SourceShape& source, std::string beginning) {
  if (QuotesOnlySingly(source.text)) std::ranges::replace(beginning, '"', '\'');
  constexpr std::string_view kEllipsis = "... ";
  if (beginning.starts_with(kEllipsis) && source.text.starts_with("...") &&
      !source.text.starts_with(kEllipsis))
    beginning.erase(kEllipsis.size() - 1, 1);
  if (source.any_first_letter) return beginning;
  const size_t wanted = FirstLetter(source.text);
  const size_t got = FirstLetter(beginning);
  if (wanted == std::string_view::npos || got == std::string_view::npos) return beginning;
  const std::string_view word = LettersFrom(beginning, got);
  if (IsSpecial(word)) return beginning;
  const char32_t model = models::DecodeAt(source.text, wanted).value;
  const char32_t letter = models::DecodeAt(beginning, got).value;
  if (models::IsLower(model) && models::IsUpper(letter)) {
    // iPhone begins with a small letter in any language.
    if (!IsSpecial(LettersFrom(source.text, wanted)) && !KeepsCapital(word, source.target_language))
      Replace(got, models::ToLower(letter), beginning);
  } else if (models::IsUpper(model) && models::IsLower(letter) &&
             (IsShort(source.text) || ItemNumberEnd(source.text) > 0)) {
    Replace(got, models::ToUpper(letter), beginning);
  }
  return beginning;
}

std::string ShapedLike(const SourceShape& source, std::string translation) {
  translation = BegunLike(source, std::move(translation));
  CutAddedOpening(source.text, translation);
  if (IsShort(source.text)) {
    if (!source.has_marks) CutSpacesAtSigns(source.text, translation);
    ShapeShort(source.text, translation);
    CutLeadingOn(source, translation);
    CutBehindSame(source.text, translation);
    CutAddedArticle(source, translation);
    LowerWords(source, translation);
  } else {
    ShapeEnd(source.text, translation);
    // No stream sends an enumeration before it is complete.
    constexpr std::ptrdiff_t kFewestCommas = 3;
    if (std::ranges::count(source.text, ',') >= kFewestCommas && IsTitle(translation))
      LowerWords(source, translation);
  }
  return translation;
}

}  // namespace millrace::translation
