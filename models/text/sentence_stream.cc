#include "models/text/sentence_stream.h"

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

}  // namespace

std::string SentenceStream::Push(std::string_view piece) {
  text_ += piece;
  const std::vector<Sentence> sentences = SplitSentences(text_);
  if (sentences.empty()) return {};
  const Sentence& last = sentences.back();
  size_t ended = static_cast<size_t>(last.text.data() - text_.data());
  // A line break ends a sentence whatever follows.
  if (last.space.find('\n') != std::string_view::npos) ended = text_.size();
  const std::string_view open = std::string_view(text_).substr(ended);
  if (CountSpokenBytes(open) > kMaxSentenceBytes) ended += FindPause(open);
  std::string complete = text_.substr(0, ended);
  text_.erase(0, ended);
  return complete;
}

std::string SentenceStream::TakeRest() { return std::exchange(text_, {}); }

}  // namespace millrace::models
