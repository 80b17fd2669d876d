#include "models/translation/markup/source_sentences.h"

#include <algorithm>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/protected_spans.h"
#include "models/text/sentence_splitter.h"
#include "models/text/unicode.h"
#include "models/translation/markup/marked_block.h"
#include "models/translation/markup/number_repair.h"

namespace millrace::models {
namespace {

std::vector<MarkedBlock> ReadBlocks(std::string_view text, TextFormat format) {
  switch (format) {
    case TextFormat::kHtml:
      return ReadHtml(text);
    case TextFormat::kMarkdown:
      return ReadMarkdown(text);
    case TextFormat::kText:
      break;
  }
  return ReadPlain(text);
}

// Adds what must survive to what the reader keeps; where the two or marks cross, it is not added.
void KeepProtected(MarkedText& marked, const TermIndex& terms) {
  std::vector<KeptSpan> all;
  auto own = marked.kept.begin();
  auto event = marked.events.begin();
  for (const ProtectedSpan& span : FindProtectedSpans(marked.text, terms)) {
    for (; own != marked.kept.end() && own->begin < span.end; ++own) all.push_back(std::move(*own));
    if (!all.empty() && all.back().end > span.begin) continue;
    while (event != marked.events.end() && event->at <= span.begin) ++event;
    if (event != marked.events.end() && event->at < span.end) continue;
    all.push_back({span.begin, span.end, Escaped(span.becomes, marked.is_html)});
  }
  std::move(own, marked.kept.end(), std::back_inserter(all));
  marked.kept = std::move(all);
}

// A letter that with a number behind it is no word of the sentence.
char StandInLetter(std::string_view text) {
  for (const char letter : {'X', 'K', 'Q', 'Z'}) {
    size_t at = text.find(letter);
    while (at != std::string_view::npos && !IsAsciiDigit(ByteAt(text, at + 1)))
      at = text.find(letter, at + 1);
    if (at == std::string_view::npos) return letter;
  }
  return 'J';
}

// Whether a word goes on into a stretch, or out of it.
bool TouchesWord(std::string_view text, size_t begin, size_t end) {
  return (begin > 0 && IsWordCharacter(DecodeBefore(text, begin).value)) ||
         IsWordCharacter(DecodeAt(text, end).value);
}

// Puts stand-ins in place of what is kept. Models copy X1, X2, ... whatever stands around them.
// What touches a word, or has marks inside, becomes marks.
void PutStandIns(MarkedText& marked) {
  const char letter = StandInLetter(marked.text);
  MarkedText out;
  out.is_html = marked.is_html;
  size_t at = 0;
  auto event = marked.events.begin();
  const auto copy_until = [&](size_t end) {
    for (; event != marked.events.end() && event->at <= end; ++event) {
      out.events.push_back(
          {event->at - at + out.text.size(), event->kind, std::move(event->markup)});
    }
    out.text.append(marked.text, at, end - at);
    at = end;
  };
  const auto kept_end = marked.kept.end();
  for (auto first = marked.kept.begin(), last = first; first != kept_end; first = last) {
    // What stands together has one stand-in.
    while (++last != kept_end && last->begin == (last - 1)->end) continue;
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
    out.text += letter + std::to_string(out.kept.size() + 1);
    out.kept.push_back({begin, out.text.size(), {}});
    for (; first != last; ++first) out.kept.back().becomes += first->becomes;
  }
  copy_until(marked.text.size());
  marked = std::move(out);
}

// A model reads a space where a line was wrapped; the line break becomes a mark.
void MarkLineBreaks(MarkedText& marked) {
  if (marked.text.find_first_of("\n\r") == std::string::npos) return;
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
    joined.text += piece.text;
  };
  MarkedTextCutter cutter(marked);
  for (size_t at = 0; at < marked.text.size();) {
    const size_t end = std::min(marked.text.find_first_of("\n\r", at), marked.text.size());
    append(cutter.Take(end));
    at = std::min(marked.text.find_first_not_of(" \t\n\r", end), marked.text.size());
    if (at == end) break;
    MarkedText line_break = cutter.Take(at);
    MarkedText space{.text = " "};
    size_t put = 0;
    const auto put_until = [&](size_t end) {
      if (end == put) return;
      space.events.push_back({1, MarkEvent::Kind::kAlone, line_break.text.substr(put, end - put)});
      put = end;
    };
    for (MarkEvent& event : line_break.events) {
      put_until(event.at);
      event.at = put == 0 ? 0 : 1;
      space.events.push_back(std::move(event));
    }
    put_until(line_break.text.size());
    append(std::move(space));
  }
  marked = std::move(joined);
}

bool HasWords(const MarkedText& marked) {
  size_t at = 0;
  const auto has_letter = [&](size_t end) {
    while (at < end) {
      const CodePoint c = DecodeAt(marked.text, at);
      // Scripts without spaces have letters above the punctuation.
      if (!IsDigit(c.value) && (IsWordCharacter(c.value) || c.value >= 0x3040)) return true;
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

// Whether a number is long enough that RepairNumbers might correct it.
bool HasLongNumber(std::string_view text) {
  size_t digits = 0;
  for (const char c : text) {
    if (IsAsciiDigit(c)) {
      if (++digits == kFewestDigits) return true;
    } else if (c != '.' && c != ',') {
      digits = 0;
    }
  }
  return false;
}

SourceSentence MakeSentence(MarkedText marked, std::string behind) {
  SourceSentence sentence;
  if (!marked.kept.empty()) {
    sentence.has_words = HasWords(marked);
    PutStandIns(marked);
  }
  MarkLineBreaks(marked);
  sentence.is_plain = marked.events.empty() && marked.kept.empty() && !marked.is_html &&
                      !HasLongNumber(marked.text);
  sentence.marked = std::move(marked);
  sentence.behind = std::move(behind);
  return sentence;
}

// The text with a word in place of what is kept, whose stops end no sentence.
std::string ForSplitting(const MarkedText& marked, bool flows) {
  std::string text = marked.text;
  const auto is_break = [](char c) { return c == '\n' || c == '\r'; };
  if (flows) std::ranges::replace_if(text, is_break, ' ');
  for (const KeptSpan& kept : marked.kept) {
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(kept.begin),
              text.begin() + static_cast<std::ptrdiff_t>(kept.end), 'x');
    text[kept.begin] = 'X';
  }
  return text;
}

// What is no sentence stands behind the one before.
void AddBehind(std::string_view text, std::vector<SourceSentence>& sentences) {
  if (text.empty()) return;
  if (sentences.empty()) sentences.emplace_back();
  sentences.back().behind += text;
}

// The sentences of a block, to the end of `sentences`.
void CutBlock(MarkedBlock block, std::string_view language, const TermIndex& terms,
              std::vector<SourceSentence>& sentences) {
  MarkedText& marked = block.marked;
  KeepProtected(marked, terms);
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
  for (const Sentence& found : SplitSentences(text, {language, /*joins_lines=*/true})) {
    const size_t end = cutter.at() + found.text.size();
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
  size_t next = bytes;
  for (CodePoint c = DecodeAt(marked.text, next); c.bytes > 0 && IsSpace(c.value);
       c = DecodeAt(marked.text, next)) {
    next += c.bytes;
  }
  SourceSentence front;
  front.is_plain = sentence.is_plain;
  front.has_words = sentence.has_words;
  MarkedTextCutter cutter(marked);
  front.marked = cutter.Take(bytes);
  front.behind = Untouched(cutter.Take(next));
  MarkedText rest = cutter.Take(marked.text.size());
  sentence.marked = std::move(rest);
  return front;
}

std::vector<SourceSentence> ReadSentences(std::string_view text, TextFormat format,
                                          std::string_view language, const TermIndex& terms) {
  std::vector<SourceSentence> sentences;
  for (MarkedBlock& block : ReadBlocks(text, format)) {
    AddBehind(block.before, sentences);
    if (block.marked.text.empty()) {
      AddBehind(Untouched(block.marked), sentences);
      continue;
    }
    CutBlock(std::move(block), language, terms, sentences);
  }
  return sentences;
}

}  // namespace millrace::models
