#include "models/translation/markup/source_sentences.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "models/core/utf8.h"
#include "models/text/ascii.h"
#include "models/text/protected_spans.h"
#include "models/text/sentence_splitter.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "models/translation/markup/html_entities.h"
#include "models/translation/markup/marked_block.h"
#include "models/translation/markup/number_repair.h"
#include "models/translation/markup/unknown_text.h"

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

// Adds protected spans to those that the reader keeps. A span that crosses one of these, or has a
// mark inside, is not added.
void KeepProtected(MarkedText& marked, const models::TermIndex& terms) {
  const std::string_view text = marked.text;
  std::vector<KeptSpan> all;
  auto own = marked.kept.begin();
  auto event = marked.events.begin();
  for (const models::ProtectedSpan& span : models::FindProtectedSpans(marked.text, terms)) {
    for (; own != marked.kept.end() && own->begin < span.end; ++own) all.push_back(std::move(*own));
    if (!all.empty() && all.back().end > span.begin) continue;
    while (event != marked.events.end() && event->at <= span.begin) ++event;
    if (event != marked.events.end() && event->at < span.end) continue;
    const bool itself = span.becomes.data() == text.data() + span.begin;
    all.push_back(
        {span.begin, span.end,
         itself ? Written(marked, span.begin, span.end) : Escaped(span.becomes, marked.is_html)});
  }
  std::move(own, marked.kept.end(), std::back_inserter(all));
  marked.kept = std::move(all);
}

// Text without white space that is longer than any word, of a script that puts spaces between
// words.
struct EndlessWord {
  size_t begin = 0;
  size_t end = 0;
};

std::vector<EndlessWord> FindEndlessWords(std::string_view text) {
  constexpr size_t kLongestWord = 512;  // bytes
  const auto is_spaced = [](char32_t c) { return c < 0xE00 || (c >= 0x2000 && c < 0x3000); };
  std::vector<EndlessWord> found;
  size_t begin = 0;
  for (size_t at = 0; at <= text.size();) {
    const models::CodePoint c = models::DecodeAt(text, at);
    if (c.bytes > 0 && !models::IsSpace(c.value) && is_spaced(c.value)) {
      at += c.bytes;
      continue;
    }
    if (at - begin > kLongestWord) found.push_back({begin, at});
    begin = at += std::max<size_t>(c.bytes, 1);
  }
  return found;
}

// Keeps strings that are too long for a word, as far as they are not kept already: a model would
// make twice as much nonsense of them, at the cost of a long text. Added spans end at events, so
// that no event is inside one.
void KeepEndlessWords(MarkedText& marked) {
  std::vector<KeptSpan> all;
  auto own = marked.kept.begin();
  auto event = marked.events.begin();
  for (const EndlessWord& word : FindEndlessWords(marked.text)) {
    size_t at = word.begin;
    for (; own != marked.kept.end() && own->begin < word.begin; ++own) {
      at = std::max(at, own->end);
      all.push_back(std::move(*own));
    }
    while (at < word.end) {
      while (event != marked.events.end() && event->at <= at) ++event;
      size_t end = word.end;
      if (event != marked.events.end()) end = std::min(end, event->at);
      if (own != marked.kept.end()) end = std::min(end, own->begin);
      if (end > at) all.push_back({at, end, Written(marked, at, end)});
      at = end;
      for (; own != marked.kept.end() && own->begin == at; ++own) {
        at = own->end;
        all.push_back(std::move(*own));
      }
    }
  }
  std::move(own, marked.kept.end(), std::back_inserter(all));
  marked.kept = std::move(all);
}

bool IsWrittenInAscii(std::string_view language) {
  return models::AsciiLower(language.substr(0, language.find('-'))) == "en";
}

// Returns a letter that the text has nowhere before a digit, so that a stand-in differs from its
// words.
char StandInLetter(std::string_view text) {
  for (const char letter : {'X', 'K', 'Q', 'Z'}) {
    size_t at = text.find(letter);
    while (at != std::string_view::npos && !models::IsAsciiDigit(models::ByteAt(text, at + 1)))
      at = text.find(letter, at + 1);
    if (at == std::string_view::npos) return letter;
  }
  return 'J';
}

// Returns true if a word character touches either end of the range.
bool TouchesWord(std::string_view text, size_t begin, size_t end) {
  return (begin > 0 && models::IsWordCharacter(models::DecodeBefore(text, begin).value)) ||
         models::IsWordCharacter(models::DecodeAt(text, end).value);
}

// Replaces kept spans with stand-ins: models copy X1, X2, ... in any context. A span that touches a
// word, or has marks inside, becomes marks instead.
void PutStandIns(MarkedText& marked) {
  const char letter = StandInLetter(marked.text);
  MarkedText out;
  out.is_html = marked.is_html;
  size_t at = 0;
  size_t stand_ins = 0;
  auto event = marked.events.begin();
  auto spelling = marked.spellings.begin();
  const auto copy_until = [&](size_t end) {
    for (; event != marked.events.end() && event->at <= end; ++event) {
      out.events.push_back(
          {event->at - at + out.text.size(), event->kind, std::move(event->markup)});
    }
    for (; spelling != marked.spellings.end() && spelling->end <= end; ++spelling) {
      if (spelling->begin < at) continue;
      const size_t begin = spelling->begin - at + out.text.size();
      out.spellings.push_back(
          {begin, begin + spelling->end - spelling->begin, std::move(spelling->written)});
    }
    out.text.append(marked.text, at, end - at);
    at = end;
  };
  const auto kept_end = marked.kept.end();
  for (auto first = marked.kept.begin(), last = first; first != kept_end; first = last) {
    if (first->reads) {
      ++last;
      copy_until(first->begin);
      at = first->end;
      const size_t begin = out.text.size();
      if (begin == 0 && first->reads->starts_with('-')) {
        // A dash at the beginning of a speech or a list item is none of its words.
        const size_t end = event != marked.events.end() ? event->at : marked.text.size();
        for (; at < end && marked.text[at] == ' '; ++at) first->becomes += ' ';
        out.events.push_back({0, MarkEvent::Kind::kAlone, std::move(first->becomes)});
        continue;
      }
      out.text += *first->reads;
      if (!first->returns) continue;
      first->begin = begin;
      first->end = out.text.size();
      out.kept.push_back(std::move(*first));
      continue;
    }
    // Adjacent kept spans share one stand-in.
    while (++last != kept_end && last->begin == (last - 1)->end && !last->reads) continue;
    const size_t end = (last - 1)->end;
    copy_until(first->begin);
    if (TouchesWord(marked.text, first->begin, end) ||
        (event != marked.events.end() && event->at < end)) {
      for (; first != last; ++first) {
        at = first->begin;
        copy_until(at);
        out.events.push_back({out.text.size(), MarkEvent::Kind::kAlone, std::move(first->becomes)});
        at = first->end;
      }
      continue;
    }
    at = end;
    const size_t begin = out.text.size();
    out.text += letter + std::to_string(++stand_ins);
    out.kept.push_back({begin, out.text.size(), {}});
    for (; first != last; ++first) out.kept.back().becomes += first->becomes;
  }
  copy_until(marked.text.size());
  marked = std::move(out);
}

// Returns true if a no-break space only keeps a sign of French with its word: « so », and so !
bool BelongsToSign(std::string_view text, size_t begin, size_t end) {
  constexpr std::u32string_view kSigns = U"!?:;»";
  return kSigns.find(models::DecodeAt(text, end).value) != kSigns.npos ||
         (begin > 0 && models::DecodeBefore(text, begin).value == U'«');
}

// Returns the next white space that a model reads as a space but that must be restored: line breaks
// and, where there are entities, no-break spaces, with the white space around them. The range is
// empty when there is none.
std::pair<size_t, size_t> FindWideSpace(const MarkedText& marked, size_t from) {
  const std::string_view text = marked.text;
  const bool has_entities = marked.is_html || !marked.spellings.empty();
  for (size_t at = from; at < text.size();) {
    at = text.find_first_of(has_entities ? "\n\r\xC2" : "\n\r", at);
    if (at == std::string_view::npos) break;
    const bool no_break = text[at] == kNoBreakSpace[0];
    if (no_break && text.substr(at, kNoBreakSpace.size()) != kNoBreakSpace) {
      ++at;
      continue;
    }
    size_t begin = at;
    size_t end = at;
    if (has_entities) {
      while (begin > from && models::kAsciiSpace.find(text[begin - 1]) != models::kAsciiSpace.npos)
        --begin;
    }
    for (bool more = true; more;) {
      const size_t before = end;
      end = std::min(text.find_first_not_of(" \t\n\r", end), text.size());
      if (has_entities && text.substr(end, kNoBreakSpace.size()) == kNoBreakSpace)
        end += kNoBreakSpace.size();
      more = end > before;
    }
    const bool alone = begin == at && end == at + kNoBreakSpace.size();
    if (!no_break || !alone || !BelongsToSign(text, begin, end)) return {begin, end};
    at = end;
  }
  return {text.size(), text.size()};
}

// Turns line breaks and no-break spaces into a space and marks, because a model reads only a space.
void MarkWideSpaces(MarkedText& marked) {
  auto [begin, end] = FindWideSpace(marked, 0);
  if (begin == end) return;
  MarkedText joined;
  joined.is_html = marked.is_html;
  const auto append = [&joined](MarkedText piece) {
    for (MarkEvent& event : piece.events) {
      event.at += joined.text.size();
      joined.events.push_back(std::move(event));
    }
    for (KeptSpan& kept : piece.kept) {
      kept.begin += joined.text.size();
      kept.end += joined.text.size();
      joined.kept.push_back(std::move(kept));
    }
    for (Spelling& spelling : piece.spellings) {
      spelling.begin += joined.text.size();
      spelling.end += joined.text.size();
      joined.spellings.push_back(std::move(spelling));
    }
    joined.text += piece.text;
  };
  MarkedTextCutter cutter(marked);
  for (; begin < end; std::tie(begin, end) = FindWideSpace(marked, end)) {
    append(cutter.Take(begin));
    MarkedText wide = cutter.Take(end);
    MarkedText space{.text = " "};
    size_t put = 0;
    const auto put_until = [&](size_t until) {
      if (until == put) return;
      space.events.push_back({1, MarkEvent::Kind::kAlone, Written(wide, put, until)});
      put = until;
    };
    for (MarkEvent& event : wide.events) {
      put_until(event.at);
      event.at = put == 0 ? 0 : 1;
      space.events.push_back(std::move(event));
    }
    put_until(wide.text.size());
    append(std::move(space));
  }
  append(cutter.Take(marked.text.size()));
  marked = std::move(joined);
}

// Returns true if there is anything to translate. Without kept spans a number counts as well,
// because the other language may write it in another way.
bool HasWords(const MarkedText& marked) {
  const bool numbers_count = marked.kept.empty();
  size_t at = 0;
  const auto has_letter = [&](size_t end) {
    while (at < end) {
      const models::CodePoint c = models::DecodeAt(marked.text, at);
      // Scripts without spaces have letters above the punctuation.
      const bool word = models::IsWordCharacter(c.value) || c.value >= 0x3040;
      if (word && (numbers_count || !models::IsDigit(c.value))) return true;
      at += c.bytes;
    }
    return false;
  };
  for (const KeptSpan& kept : marked.kept) {
    if (has_letter(kept.begin)) return true;
    at = kept.end;
  }
  return has_letter(marked.text.size());
}

// Returns true if a number is long enough that RepairNumbers might correct it, or has a sign of
// money.
bool MayNeedRepair(std::string_view text) {
  size_t digits = 0;
  for (const char c : text) {
    if (c == '$') return true;
    if (models::IsAsciiDigit(c)) {
      if (++digits == kFewestDigits) return true;
    } else if (c != '.' && c != ',') {
      digits = 0;
    }
  }
  return false;
}

SourceSentence MakeSentence(MarkedText marked, std::string behind) {
  SourceSentence sentence;
  sentence.has_words = HasWords(marked);
  if (!marked.kept.empty()) PutStandIns(marked);
  MarkWideSpaces(marked);
  sentence.is_plain = marked.events.empty() && marked.kept.empty() && !marked.is_html &&
                      !MayNeedRepair(marked.text);
  sentence.marked = std::move(marked);
  sentence.behind = std::move(behind);
  return sentence;
}

// Returns the text with a word for each kept span, so that a full stop in one ends no sentence.
std::string ForSplitting(const MarkedText& marked, bool flows) {
  std::string text = marked.text;
  const auto is_break = [](char c) { return c == '\n' || c == '\r'; };
  if (flows) std::ranges::replace_if(text, is_break, ' ');
  for (const KeptSpan& kept : marked.kept) {
    if (kept.reads) continue;
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

// Appends the sentences of a block to `sentences`.
void CutBlock(MarkedBlock block, std::string_view language, const models::TermIndex& terms,
              Alphabet alphabet, std::vector<SourceSentence>& sentences) {
  MarkedText& marked = block.marked;
  if (marked.text.empty()) return AddBehind(Untouched(marked), sentences);
  KeepProtected(marked, terms);
  KeepEndlessWords(marked);
  KeepUnknownText(marked, {alphabet, IsWrittenInAscii(language)});
  const std::string text = ForSplitting(marked, block.flows);
  MarkedTextCutter cutter(marked);
  const auto take = [&](size_t end, size_t next) {
    MarkedText sentence = cutter.Take(end);
    std::string behind = Untouched(cutter.Take(next));
    if (!sentence.text.empty()) {
      sentences.push_back(MakeSentence(std::move(sentence), std::move(behind)));
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
  MarkedTextCutter cutter(marked);
  front.marked = cutter.Take(bytes);
  front.has_words = HasWords(front.marked);
  front.behind = Untouched(cutter.TakeSpace(next));
  sentence.marked = cutter.Take(marked.text.size());
  sentence.has_words = HasWords(sentence.marked);
  return front;
}

std::vector<SourceSentence> ReadSentences(std::string_view text, models::TextFormat format,
                                          std::string_view language, const models::TermIndex& terms,
                                          Alphabet alphabet) {
  std::vector<SourceSentence> sentences;
  for (MarkedBlock& block : ReadBlocks(text, format)) {
    AddBehind(block.before, sentences);
    CutBlock(std::move(block), language, terms, alphabet, sentences);
  }
  return sentences;
}

std::vector<SourceSentence> ReadSentences(const TranslatedSentence& translated,
                                          std::string_view language, const models::TermIndex& terms,
                                          Alphabet alphabet) {
  std::vector<SourceSentence> sentences;
  MarkedBlock block;
  block.marked = translated.marked;
  CutBlock(std::move(block), language, terms, alphabet, sentences);
  AddBehind(translated.behind, sentences);
  return sentences;
}

}  // namespace millrace::translation
