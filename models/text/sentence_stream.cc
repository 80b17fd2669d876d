#include "models/text/sentence_stream.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "models/core/utf8.h"
#include "models/text/sentence_splitter.h"
#include "models/text/spoken_bytes.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns the end of the part of an unfinished sentence that can be spoken; 0 if there is none.
size_t FindPause(std::string_view sentence) {
  for (const std::string_view marks : {",;:", ""}) {
    for (size_t i = sentence.size(); i-- > 1;) {
      if (IsWidePause(DecodeBefore(sentence, i).value)) return i;
      if (kAsciiSpace.find(sentence[i]) == std::string_view::npos) continue;
      if (marks.empty() || marks.find(sentence[i - 1]) != std::string_view::npos) return i;
    }
  }
  // The text is one endless word.
  if (CountSpokenBytes(sentence) <= 2 * SentenceStream::kMaxSentenceBytes) return 0;
  size_t cut = sentence.size() - 1;
  while (cut > 0 && IsContinuationByte(sentence[cut])) --cut;
  return cut;
}

// A line that is shorter is not waited for: it is hardly one that was wrapped.
constexpr size_t kLeastWrappedBytes = 16;

// Returns true if the sentence ends with a single line break, behind which it may go on as in a
// wrapped text: its last line is long enough, and ends with a letter, a digit or a comma.
bool MayGoOn(const Sentence& sentence) {
  if (std::ranges::count(sentence.space, '\n') != 1) return false;
  const size_t before = sentence.text.rfind('\n');
  const size_t line = before == std::string_view::npos ? 0 : before + 1;
  if (sentence.text.size() - line < kLeastWrappedBytes) return false;
  const char32_t last = DecodeBefore(sentence.text, sentence.text.size()).value;
  return last == ',' || IsLower(last) || IsUpper(last) || (last >= '0' && last <= '9');
}

// Returns the first of the sentences that have not ended: the last one, unless it goes on from a
// line before it, or all of them have ended.
size_t FirstOpen(const std::vector<Sentence>& sentences) {
  size_t open = sentences.size() - 1;
  if (sentences[open].space.find('\n') != std::string_view::npos && !MayGoOn(sentences[open]))
    return sentences.size();
  while (open > 0 && MayGoOn(sentences[open - 1]) && !sentences[open].text.empty() &&
         IsLower(DecodeAt(sentences[open].text, 0).value)) {
    --open;
  }
  return open;
}

}  // namespace

std::string SentenceStream::Push(std::string_view piece) {
  text_ += piece;
  const std::vector<Sentence> sentences = SplitSentences(text_, {.joins_short_lines = true});
  if (sentences.empty()) return {};
  const size_t first = FirstOpen(sentences);
  size_t ended = first == sentences.size()
                     ? text_.size()
                     : static_cast<size_t>(sentences[first].text.data() - text_.data());
  const std::string_view open = std::string_view(text_).substr(ended);
  if (CountSpokenBytes(open) > kMaxSentenceBytes) ended += FindPause(open);
  std::string complete = text_.substr(0, ended);
  text_.erase(0, ended);
  return complete;
}

std::string SentenceStream::TakeRest() { return std::exchange(text_, {}); }

}  // namespace millrace::models
