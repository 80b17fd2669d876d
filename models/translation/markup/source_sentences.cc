#include "models/translation/markup/source_sentences.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "models/core/utf8.h"
#include "models/text/ascii.h"
#include "models/text/protected_spans.h"
#include "models/text/sentence_splitter.h"
#include "models/text/unicode.h"
#include "models/translation/markup/element_items.h"
#include "models/translation/markup/endless_words.h"
#include "models/translation/markup/item_list.h"
#include "models/translation/markup/label.h"
#include "models/translation/markup/marked_block.h"
#include "models/translation/markup/number_format.h"
#include "models/translation/markup/number_repair.h"
#include "models/translation/markup/numeric_text.h"
#include "models/translation/markup/outer_marks.h"
#include "models/translation/markup/readings.h"
#include "models/translation/markup/stand_ins.h"
#include "models/translation/markup/unknown_text.h"
#include "models/translation/markup/wide_space.h"
#include "models/translation/markup/word_lists.h"
#include "models/translation/markup/wrapping.h"

namespace millrace::translation {
namespace {

// Longer sentences are cut: no model reads as much, and repeated TakeFront calls stay linear.
constexpr size_t kLongestSentence = 16 << 10;  // bytes

std::vector<MarkedBlock> ReadBlocks(std::string_view text, models::TextFormat format) {
  switch (format) {
    case models::TextFormat::kHtml:
      return ReadHtml(text);
    case models::TextFormat::kMarkdown:
      return ReadMarkdown(text);
    case models::TextFormat::kText:
      break;
  }
  return ReadPlain(text);
}

// Returns true for the ending of an article in the plural: o(s). Other languages than these have
// one article.
bool IsPluralOfArticle(std::string_view text, size_t begin, size_t end, std::string_view language) {
  constexpr size_t kLongestArticle = 3;  // bytes
  const std::string tag = models::AsciiLower(language.substr(0, 2));
  if ((tag != "pt" && tag != "es") || text.substr(begin, end - begin) != "(s)") return false;
  const size_t word = text.substr(0, begin).rfind(' ') + 1;  // npos + 1 is the beginning
  return begin - word <= kLongestArticle;
}

bool IsWrittenInAscii(std::string_view language) { return PrimarySubtag(language) == "en"; }

// Adds protected spans to those that the reader keeps. A span that crosses one of these, or has a
// mark inside, is not added.
void KeepProtected(MarkedText& marked, const models::TermIndex& terms, bool brackets,
                   std::string_view language) {
  const std::string_view text = marked.text;
  std::vector<KeptSpan> all;
  auto own = marked.kept.begin();
  auto event = marked.events.begin();
  const models::PatternOptions options = {.brackets = brackets,
                                          .guillemets = IsWrittenInAscii(language)};
  for (const models::ProtectedSpan& span :
       models::FindProtectedSpans(marked.text, terms, options)) {
    for (; own != marked.kept.end() && own->begin < span.end; ++own) all.push_back(std::move(*own));
    if (!all.empty() && all.back().end > span.begin) continue;
    while (event != marked.events.end() && event->at <= span.begin) ++event;
    if (event != marked.events.end() && event->at < span.end) continue;
    if (IsPluralOfArticle(text, span.begin, span.end, language)) {
      all.push_back({span.begin, span.end, Written(marked, span.begin, span.end), "", false});
      continue;
    }
    const bool itself = span.becomes.data() == text.data() + span.begin;
    all.push_back(
        {span.begin, span.end,
         itself ? Written(marked, span.begin, span.end) : Escaped(span.becomes, marked.is_html)});
  }
  std::move(own, marked.kept.end(), std::back_inserter(all));
  marked.kept = std::move(all);
}

// Returns true if there is anything to translate: words besides kept spans and numbers.
bool HasWords(const MarkedText& marked) {
  std::string text = marked.text;
  for (const KeptSpan& kept : marked.kept) {
    if (kept.reads && !kept.returns) continue;
    std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(kept.begin), kept.end - kept.begin, ' ');
  }
  bool has_letter = false;
  for (size_t at = 0; at < text.size() && !has_letter;) {
    const models::CodePoint c = models::DecodeAt(text, at);
    // Scripts without spaces have letters above the punctuation.
    has_letter =
        (models::IsWordCharacter(c.value) && !models::IsDigit(c.value)) || c.value >= 0x3040;
    at += c.bytes;
  }
  return has_letter && !IsNumericText(text);
}

// Returns true if a number is one that RepairNumbers might correct: it is long, as are times, has a
// fraction or letters joined to it, or a sign of money or of a comparison, or is the day of a date:
// 5 de maio.
bool MayNeedRepair(std::string_view text) {
  constexpr std::string_view kJoints = ".,:/-";
  constexpr std::string_view kSigns = "$<>";
  size_t digits = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (kSigns.find(c) != std::string_view::npos) return true;
    if (models::IsAsciiDigit(c)) {
      if (++digits == kFewestDigits) return true;
      continue;
    }
    if (digits > 0 && text.substr(at).starts_with(" de ")) return true;
    const bool is_joint = kJoints.find(c) != std::string_view::npos;
    if (digits > 0 && is_joint && models::IsAsciiDigit(models::ByteAt(text, at + 1))) return true;
    // Signs of ordinals are letters beyond ASCII.
    if (digits > 0 && (models::IsAsciiLetter(c) || static_cast<unsigned char>(c) >= 0x80))
      return true;
    if (!is_joint) digits = 0;
  }
  return false;
}

// Moves the ellipsis at the end of a few words to what stands behind them: in "Open...", models
// take the words for the beginning of a sentence and continue it.
void SetEllipsisAside(MarkedText& marked, std::string& behind) {
  constexpr size_t kMostSpaces = 2;
  for (const std::string_view ellipsis : {"...", "\xE2\x80\xA6"}) {
    if (!marked.text.ends_with(ellipsis)) continue;
    const size_t end = marked.text.size() - ellipsis.size();
    const std::string_view words = std::string_view(marked.text).substr(0, end);
    const bool few = static_cast<size_t>(std::ranges::count(words, ' ')) <= kMostSpaces &&
                     !words.empty() &&
                     models::IsWordCharacter(models::DecodeBefore(words, words.size()).value);
    // The ellipsis itself may be a span that no vocabulary has, or be written as an entity.
    const auto crosses = [end](const auto& span) { return span.begin < end && span.end > end; };
    const auto is_behind = [end](const auto& span) { return span.begin >= end; };
    const bool in_marks =
        std::ranges::any_of(marked.events, [end](const auto& event) { return event.at > end; }) ||
        std::ranges::any_of(marked.kept, crosses) || std::ranges::any_of(marked.spellings, crosses);
    if (!few || in_marks) return;
    behind.insert(0, Written(marked, end, marked.text.size()));
    std::erase_if(marked.kept, is_behind);
    std::erase_if(marked.spellings, is_behind);
    marked.text.resize(end);
    return;
  }
}

SourceSentence MakeSentence(MarkedText marked, std::string behind) {
  SourceSentence sentence;
  SetEllipsisAside(marked, behind);
  sentence.has_words = HasWords(marked);
  const auto is_read = [](const KeptSpan& kept) { return kept.reads && !kept.returns; };
  if (std::ranges::any_of(marked.kept, is_read)) sentence.written = Untouched(marked);
  if (!marked.kept.empty()) PutStandIns(marked);
  MarkWideSpaces(marked);
  sentence.is_bare = marked.events.empty() && marked.kept.empty() && marked.spellings.empty() &&
                     !MayNeedRepair(marked.text);
  sentence.is_plain = sentence.is_bare && !marked.is_html;
  sentence.marked = std::move(marked);
  sentence.behind = std::move(behind);
  return sentence;
}

// Makes a sentence of a part of a label, or of one word, which may have nothing to translate.
SourceSentence MakeSentenceOfLabel(MarkedText marked, std::string behind) {
  if (marked.kept.empty() && marked.events.empty() && HasWords(marked) && IsWordless(marked))
    marked.kept.push_back({0, marked.text.size(), Untouched(marked)});
  return MakeSentence(std::move(marked), std::move(behind));
}

// Returns true for a name of words of two letters or more between stops: app.title.
bool IsDottedName(std::string_view text) {
  constexpr size_t kFewestLetters = 2;
  size_t parts = 0;
  for (size_t at = 0; at <= text.size(); ++parts) {
    const size_t end = models::LettersEnd(text, at);
    if (end < at + kFewestLetters || (end < text.size() && text[end] != '.')) return false;
    at = end + 1;
  }
  return parts > 1;
}

// Returns true if a list ends with a stop behind a word, outside of all marks and kept spans.
bool HasStopOfList(const MarkedText& marked) {
  const std::string_view text = marked.text;
  if (text.size() < 2 || !text.ends_with('.') ||
      !models::IsWordCharacter(models::DecodeBefore(text, text.size() - 1).value))
    return false;
  const size_t stop = text.size() - 1;
  return (marked.events.empty() || marked.events.back().at <= stop) &&
         (marked.kept.empty() || marked.kept.back().end <= stop) &&
         (marked.spellings.empty() || marked.spellings.back().end <= stop);
}

// Appends a sentence, divided behind a bullet, between the items of a list, where a label ends, and
// where a pair of brackets or quotation marks is around all of it. Markup around it is set aside.
void AddSentence(MarkedText sentence, std::string behind, std::vector<SourceSentence>& sentences) {
  OuterMarks outer = TakeOuterMarks(sentence);
  // It is no part of the space between sentences, which some languages do without.
  if (!outer.before.empty()) {
    sentences.emplace_back().has_words = false;
    sentences.back().behind = std::move(outer.before);
  }
  behind.insert(0, outer.behind);
  MarkedTextCutter cutter(sentence);
  const std::string_view text = sentence.text;
  const size_t bullet = BulletEnd(text);
  const bool has_marks = (!sentence.events.empty() && sentence.events.front().at < bullet) ||
                         std::ranges::any_of(sentence.kept, [bullet](const KeptSpan& kept) {
                           return kept.begin < bullet && kept.reads != "\"";
                         });
  if (bullet > 0 && !has_marks) {
    sentences.push_back(MakeSentence(cutter.Take(bullet), {}));
    return AddSentence(cutter.Take(text.size()), std::move(behind), sentences);
  }
  std::vector<ItemJoint> joints = FindItemJoints(sentence);
  if (joints.empty()) joints = FindElementJoints(sentence);
  if (!joints.empty()) {
    for (const ItemJoint& joint : joints) {
      MarkedText item = cutter.Take(joint.begin);
      AddSentence(std::move(item), Untouched(cutter.TakeSpace(joint.end)), sentences);
    }
    // With its stop, the last item would be a sentence.
    const size_t stop = text.size() - (HasStopOfList(sentence) ? 1 : 0);
    MarkedText last = cutter.Take(stop);
    behind.insert(0, Untouched(cutter.Take(text.size())));
    return AddSentence(std::move(last), std::move(behind), sentences);
  }
  if (const size_t label = LabelEnd(sentence); label > 0) {
    const size_t words = std::min(text.find_first_not_of(' ', label), text.size());
    MarkedText front = cutter.Take(label);
    std::string space = Untouched(cutter.Take(words));
    sentences.push_back(MakeSentenceOfLabel(std::move(front), std::move(space)));
    sentences.push_back(MakeSentenceOfLabel(cutter.Take(text.size()), std::move(behind)));
    return;
  }
  const Wrapping wrapping = FindWrapping(text);
  const auto is_within = [&](const KeptSpan& kept) {
    return kept.end > wrapping.opening && kept.begin < text.size() - wrapping.closing;
  };
  if (wrapping.opening > 0 && sentence.events.empty() &&
      std::ranges::none_of(sentence.kept, is_within)) {
    sentences.push_back(MakeSentence(cutter.Take(wrapping.opening), {}));
    MarkedText inner = cutter.Take(text.size() - wrapping.closing);
    behind.insert(0, Untouched(cutter.Take(text.size())));
    sentences.push_back(MakeSentence(std::move(inner), std::move(behind)));
    return;
  }
  // 2nd and 3rd are words of a language.
  const bool is_word = !text.empty() && text.find(' ') == std::string_view::npos &&
                       (models::IsAsciiUpper(text[0]) || IsDottedName(text));
  sentences.push_back(is_word ? MakeSentenceOfLabel(std::move(sentence), std::move(behind))
                              : MakeSentence(std::move(sentence), std::move(behind)));
}

// Returns the text with a word for each span that is kept or read as other words, so that a full
// stop in one ends no sentence.
std::string ForSplitting(const MarkedText& marked, bool flows) {
  std::string text = marked.text;
  const auto is_break = [](char c) { return c == '\n' || c == '\r'; };
  if (flows) std::ranges::replace_if(text, is_break, ' ');
  for (const KeptSpan& kept : marked.kept) {
    if (kept.reads && kept.returns) continue;
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(kept.begin),
              text.begin() + static_cast<std::ptrdiff_t>(kept.end), 'x');
    text[kept.begin] = 'X';
  }
  return text;
}

// Returns where to cut a sentence that begins at `begin` and is too long: before a space, else
// between two characters, but never inside a kept span, which is a word in `text`.
size_t CutPlace(std::string_view text, const std::vector<KeptSpan>& kept, size_t begin) {
  size_t cut = begin + kLongestSentence;
  const size_t space = text.substr(0, cut).rfind(' ');
  if (space != std::string_view::npos && space > begin) return space;
  while (IsContinuationByte(text[cut])) --cut;
  const auto behind = std::ranges::upper_bound(kept, cut, {}, &KeptSpan::begin);
  if (behind == kept.begin() || (behind - 1)->end <= cut) return cut;
  return (behind - 1)->begin > begin ? (behind - 1)->begin : (behind - 1)->end;
}

// Appends text that is no sentence to `behind` of the last sentence.
void AddBehind(std::string_view text, std::vector<SourceSentence>& sentences) {
  if (text.empty()) return;
  if (sentences.empty()) sentences.emplace_back();
  sentences.back().behind += text;
}

// The languages and the model for which a text is read.
struct Reading {
  std::string_view language;
  const models::TermIndex& terms;
  Alphabet alphabet;
  std::string_view target_language;
};

// Appends the sentences of a block to `sentences`.
void CutBlock(MarkedBlock block, const Reading& reading, std::vector<SourceSentence>& sentences) {
  const std::string_view language = reading.language;
  MarkedText& marked = block.marked;
  if (marked.text.empty()) return AddBehind(Untouched(marked), sentences);
  KeepProtected(marked, reading.terms, /*brackets=*/!block.flows, language);
  KeepWrappings(marked);
  KeepEndlessWords(marked);
  PutReadings(marked, language, reading.target_language);
  KeepUnknownText(marked, {reading.alphabet, IsWrittenInAscii(language),
                           NumberFormatsOf(language, reading.target_language)});
  const std::string text = ForSplitting(marked, block.flows);
  MarkedTextCutter cutter(marked);
  const auto take = [&](size_t end, size_t next) {
    MarkedText sentence = cutter.Take(end);
    std::string behind = Untouched(cutter.Take(next));
    if (!sentence.text.empty()) {
      AddSentence(std::move(sentence), std::move(behind), sentences);
    } else {
      AddBehind(Untouched(sentence) + behind, sentences);
    }
  };
  for (const models::Sentence& found :
       models::SplitSentences(text, {language, /*joins_lines=*/true})) {
    const size_t end = cutter.at() + found.text.size();
    while (end - cutter.at() > kLongestSentence) {
      const size_t cut = CutPlace(text, marked.kept, cutter.at());
      if (cut >= end) break;
      take(cut, std::min(text.find_first_not_of(' ', cut), end));
    }
    take(end, end + found.space.size());
  }
}

}  // namespace

MarkedText CopyOf(const SourceSentence& sentence) {
  // The reading of a number alone is how the target language writes it.
  if (sentence.written.empty() || !sentence.has_words) return sentence.marked;
  return {.text = sentence.written,
          .kept = {{0, sentence.written.size(), sentence.written}},
          .is_html = sentence.marked.is_html};
}

SourceSentence TakeFront(SourceSentence& sentence, size_t bytes) {
  const MarkedText& marked = sentence.marked;
  const auto divided = std::ranges::find_if(marked.kept, [bytes](const KeptSpan& kept) {
    return kept.begin < bytes && bytes < kept.end;
  });
  if (divided != marked.kept.end()) bytes = divided->begin > 0 ? divided->begin : divided->end;
  // White space on both sides of the cut goes behind the front. Before the cut, it is ' '.
  while (bytes > 1 && marked.text[bytes - 1] == ' ') --bytes;
  size_t next = bytes;
  for (models::CodePoint c = models::DecodeAt(marked.text, next);
       c.bytes > 0 && models::IsSpace(c.value); c = models::DecodeAt(marked.text, next)) {
    next += c.bytes;
  }
  SourceSentence front;
  front.is_plain = sentence.is_plain;
  front.is_bare = sentence.is_bare;
  MarkedTextCutter cutter(marked);
  front.marked = cutter.Take(bytes);
  front.has_words = HasWords(front.marked);
  front.behind = Untouched(cutter.TakeSpace(next));
  sentence.written.clear();
  sentence.marked = cutter.Take(marked.text.size());
  sentence.has_words = HasWords(sentence.marked);
  return front;
}

std::vector<SourceSentence> ReadSentences(std::string_view text, models::TextFormat format,
                                          std::string_view language, const models::TermIndex& terms,
                                          Alphabet alphabet, std::string_view target_language) {
  std::vector<SourceSentence> sentences;
  for (MarkedBlock& block : ReadBlocks(text, format)) {
    AddBehind(block.before, sentences);
    CutBlock(std::move(block), {language, terms, alphabet, target_language}, sentences);
  }
  return sentences;
}

std::vector<SourceSentence> ReadSentences(const TranslatedSentence& translated,
                                          std::string_view language, const models::TermIndex& terms,
                                          Alphabet alphabet, std::string_view target_language) {
  std::vector<SourceSentence> sentences;
  MarkedBlock block;
  block.marked = translated.marked;
  ConvertKeptSums(block.marked, NumberFormatsOf(language, target_language));
  CutBlock(std::move(block), {language, terms, alphabet, target_language}, sentences);
  AddBehind(translated.behind, sentences);
  return sentences;
}

}  // namespace millrace::translation
