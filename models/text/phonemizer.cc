#include "models/text/phonemizer.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/clauses.h"
#include "models/text/espeak_answer.h"
#include "models/text/espeak_pool.h"
#include "models/text/unicode.h"
#include "models/text/word_alignment.h"
#include "models/text/written_words.h"

namespace millrace::models {

absl::StatusOr<std::unique_ptr<Phonemizer>> Phonemizer::Create(const Options& options) {
  MILLRACE_ASSIGN_OR_RETURN(auto pool, EspeakPool::Create(options.espeak, options.voice));
  auto phonemizer = std::unique_ptr<Phonemizer>(new Phonemizer(std::move(pool)));
  const auto answer = phonemizer->Phonemize("1");
  if (!answer.ok() || answer->empty()) {
    return InvalidArgument(options.espeak.program, " cannot speak with the voice '", options.voice,
                           "'", answer.ok() ? "" : StrCat(": ", answer.status().message()),
                           "; `espeak-ng --voices` lists what it knows");
  }
  return phonemizer;
}

Phonemizer::Phonemizer(std::unique_ptr<EspeakPool> pool) : pool_(std::move(pool)) {}
Phonemizer::~Phonemizer() = default;

absl::StatusOr<Phonemizer::Answers> Phonemizer::Ask(std::string_view sentence,
                                                    std::vector<std::string> lines,
                                                    bool has_phonemes) const {
  const std::vector<Clause> clauses = SplitClauses(sentence, has_phonemes);
  const size_t asked = lines.size();
  for (const Clause& clause : clauses) lines.push_back(clause.text);
  Answers result;
  if (clauses.empty()) return result;
  MILLRACE_ASSIGN_OR_RETURN(const auto answers, pool_->Translate(lines));
  for (size_t i = 0; i < asked; ++i)
    result.lines.push_back(Decompose(CleanEspeakAnswer(answers[i])));
  std::string& phonemes = result.sentence;
  for (size_t i = 0; i < clauses.size(); ++i) {
    const std::string clean = CleanEspeakAnswer(answers[asked + i]);
    if (clean.empty()) continue;
    absl::StrAppend(&phonemes, phonemes.empty() ? "" : " ", clean, clauses[i].mark);
  }
  phonemes = Decompose(phonemes);
  return result;
}

absl::StatusOr<std::string> Phonemizer::Phonemize(std::string_view sentence,
                                                  bool has_phonemes) const {
  MILLRACE_ASSIGN_OR_RETURN(auto answers, Ask(sentence, {}, has_phonemes));
  return std::move(answers.sentence);
}

absl::StatusOr<PhonemeText> Phonemizer::PhonemizeWords(std::string_view sentence) const {
  std::vector<PartToSpeak> words;
  for (const WrittenWord& word : SplitWrittenWords(sentence)) {
    const std::string_view written = sentence.substr(word.begin, word.end - word.begin);
    words.push_back({word.begin, word.end, std::string(written)});
  }
  return PhonemizeParts(sentence, words);
}

absl::StatusOr<PhonemeText> Phonemizer::PhonemizeParts(std::string_view spoken,
                                                       const std::vector<PartToSpeak>& parts,
                                                       bool has_phonemes) const {
  std::vector<WordAlone> words;
  std::vector<std::string> lines;
  for (const PartToSpeak& part : parts) {
    words.push_back({part.begin, part.end, ""});
    std::string& line = lines.emplace_back();
    for (const Clause& clause : SplitClauses(part.spoken, has_phonemes))
      absl::StrAppend(&line, line.empty() ? "" : " ", clause.text);
    if (line.size() > kMaxClauseBytes) line.clear();
  }
  MILLRACE_ASSIGN_OR_RETURN(auto answers, Ask(spoken, std::move(lines), has_phonemes));
  for (size_t i = 0; i < answers.lines.size(); ++i) words[i].phonemes = std::move(answers.lines[i]);
  PhonemeText text{std::move(answers.sentence), {}};
  text.words = AlignWords(words, text.phonemes);
  return text;
}

}  // namespace millrace::models
