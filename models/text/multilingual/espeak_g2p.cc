#include "models/text/multilingual/espeak_g2p.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/clauses.h"
#include "models/text/espeak_answer.h"
#include "models/text/espeak_pool.h"
#include "models/text/inline_pronunciation.h"
#include "models/text/multilingual/misaki_symbols.h"
#include "models/text/multilingual/paused_text.h"
#include "models/text/word_alignment.h"
#include "models/text/written_words.h"

namespace millrace::models {
namespace {

// The texts of one call of espeak-ng, and its answers in the same order.
class Dialogue {
 public:
  void Ask(std::string_view text) {
    const std::vector<std::string_view> lines = CutForEspeak(text);
    lines_.insert(lines_.end(), lines.begin(), lines.end());
    counts_.push_back(lines.size());
  }
  const std::vector<std::string>& lines() const { return lines_; }

  void Answer(std::vector<std::string> answers) { answers_ = std::move(answers); }
  // Returns the phonemes of the next text in misaki's symbols.
  std::string NextAnswer() {
    std::string joined;
    for (size_t left = counts_[next_text_++]; left > 0; --left) {
      const std::string clean = CleanEspeakAnswer(answers_[next_line_++]);
      if (clean.empty()) continue;
      absl::StrAppend(&joined, joined.empty() ? "" : " ", MisakiFromTiedIpa(clean));
    }
    return joined;
  }

 private:
  std::vector<std::string> lines_;
  std::vector<size_t> counts_;  // lines of each text
  std::vector<std::string> answers_;
  size_t next_text_ = 0;
  size_t next_line_ = 0;
};

// A part of a sentence that espeak-ng reads.
struct PlainText {
  std::vector<PausedText> pieces;
  std::vector<WordAlone> words;
};

PlainText AskAbout(const TextSegment& segment, bool ends, bool with_words, Dialogue& dialogue) {
  PlainText plain{DivideAtMarks(segment.text, ends), {}};
  for (const PausedText& piece : plain.pieces) dialogue.Ask(piece.text);
  if (!with_words) return plain;
  for (const WrittenWord& word : SplitWrittenWords(segment.text)) {
    std::string alone;
    const auto pieces = DivideAtMarks(segment.text.substr(word.begin, word.end - word.begin), true);
    for (const PausedText& piece : pieces)
      absl::StrAppend(&alone, alone.empty() ? "" : " ", piece.text);
    dialogue.Ask(alone);
    plain.words.push_back({segment.begin + word.begin, segment.begin + word.end, ""});
  }
  return plain;
}

// Adds the answers about the part. Returns true if any of it is spoken.
bool AddAnswers(PlainText plain, Dialogue& dialogue, PhonemeText& text) {
  const size_t begin = text.phonemes.size();
  bool spoken = false;
  for (const PausedText& piece : plain.pieces) {
    const std::string answer = dialogue.NextAnswer();
    spoken = spoken || !answer.empty();
    text.phonemes += answer;
    // A text without sounds must not leave a second space.
    const bool doubled =
        (text.phonemes.empty() || text.phonemes.ends_with(' ')) && piece.marks.starts_with(' ');
    text.phonemes += std::string_view(piece.marks).substr(doubled ? 1 : 0);
  }
  for (WordAlone& word : plain.words) word.phonemes = dialogue.NextAnswer();
  for (PhonemeWord word : AlignWords(plain.words, std::string_view(text.phonemes).substr(begin))) {
    word.phonemes_begin += begin;
    word.phonemes_end += begin;
    text.words.push_back(word);
  }
  return spoken;
}

}  // namespace

absl::StatusOr<std::unique_ptr<EspeakG2p>> EspeakG2p::Create(Options options) {
  MILLRACE_ASSIGN_OR_RETURN(
      auto pool, EspeakPool::Create(options.espeak, options.voice, std::string(kIpaTie)));
  auto g2p =
      std::unique_ptr<EspeakG2p>(new EspeakG2p(std::move(options.vocabulary), std::move(pool)));
  const auto answer = g2p->Phonemize("1", false);
  if (!answer.ok() || answer->phonemes.empty()) {
    return FailedPrecondition(options.espeak.program, " cannot speak with the voice '",
                              options.voice, "'",
                              answer.ok() ? "" : StrCat(": ", answer.status().message()),
                              "; `espeak-ng --voices` lists what it knows");
  }
  return g2p;
}

EspeakG2p::EspeakG2p(PhonemeVocabulary vocabulary, std::unique_ptr<EspeakPool> pool)
    : vocabulary_(std::move(vocabulary)), pool_(std::move(pool)) {}
EspeakG2p::~EspeakG2p() = default;

absl::StatusOr<PhonemeText> EspeakG2p::Phonemize(std::string_view sentence, bool with_words) const {
  MILLRACE_ASSIGN_OR_RETURN(const auto segments, SplitInlinePronunciations(sentence, vocabulary_));
  Dialogue dialogue;
  std::vector<PlainText> plain;
  for (const TextSegment& segment : segments) {
    const bool ends = &segment == &segments.back();
    if (segment.phonemes.empty()) plain.push_back(AskAbout(segment, ends, with_words, dialogue));
  }
  if (!dialogue.lines().empty()) {
    MILLRACE_ASSIGN_OR_RETURN(auto answers, pool_->Translate(dialogue.lines()));
    dialogue.Answer(std::move(answers));
  }
  PhonemeText text;
  bool spoken = false;
  auto next_plain = plain.begin();
  for (const TextSegment& segment : segments) {
    if (segment.phonemes.empty()) {
      spoken |= AddAnswers(std::move(*next_plain++), dialogue, text);
      continue;
    }
    const size_t begin = text.phonemes.size();
    text.phonemes += segment.phonemes;
    spoken = true;
    if (with_words) {
      text.words.push_back(
          {segment.begin, segment.begin + segment.text.size(), begin, text.phonemes.size()});
    }
  }
  if (!spoken) return PhonemeText();
  while (text.phonemes.ends_with(' ')) text.phonemes.pop_back();
  return text;
}

}  // namespace millrace::models
