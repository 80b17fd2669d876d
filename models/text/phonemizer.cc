#include "models/text/phonemizer.h"

#include <utf8proc.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "models/text/clauses.h"
#include "models/text/espeak_pool.h"
#include "models/text/trim.h"

namespace millrace::models {
namespace {

// Drops "(fr)" and its like, by which espeak-ng says that it spoke a word in another language, and
// makes lines spaces.
std::string CleanAnswer(std::string_view answer) {
  std::string clean;
  bool in_flag = false;
  for (char c : Trim(answer)) {
    if (c == '(') in_flag = true;
    if (!in_flag) clean += c == '\n' ? ' ' : c;
    if (c == ')') in_flag = false;
  }
  return clean;
}

std::string Decompose(const std::string& text) {
  utf8proc_uint8_t* result = utf8proc_NFD(reinterpret_cast<const utf8proc_uint8_t*>(text.c_str()));
  if (result == nullptr) return "";
  std::string decomposed(reinterpret_cast<const char*>(result));
  std::free(result);
  return decomposed;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Phonemizer>> Phonemizer::Create(const Options& options) {
  auto program = FindEspeak(options.program);
  if (!program.ok()) return program.status();
  EspeakPool::Options pool;
  pool.process = {*std::move(program), options.voice};
  pool.max_processes = options.max_processes;
  pool.timeout = options.timeout;
  auto phonemizer =
      std::unique_ptr<Phonemizer>(new Phonemizer(std::make_unique<EspeakPool>(std::move(pool))));
  const auto answer = phonemizer->Phonemize("1");
  if (!answer.ok() || answer->empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.program, " cannot speak with the voice '", options.voice, "'",
                     answer.ok() ? "" : absl::StrCat(": ", answer.status().message()),
                     "; `espeak-ng --voices` lists what it knows"));
  }
  return phonemizer;
}

Phonemizer::Phonemizer(std::unique_ptr<EspeakPool> pool) : pool_(std::move(pool)) {}
Phonemizer::~Phonemizer() = default;

absl::StatusOr<std::string> Phonemizer::Phonemize(std::string_view sentence) const {
  const std::vector<Clause> clauses = SplitClauses(sentence);
  std::vector<std::string> lines;
  for (const Clause& clause : clauses) lines.push_back(clause.text);
  if (lines.empty()) return std::string();
  const auto answers = pool_->Translate(lines);
  if (!answers.ok()) return answers.status();
  std::string phonemes;
  for (size_t i = 0; i < clauses.size(); ++i) {
    const std::string clean = CleanAnswer((*answers)[i]);
    if (clean.empty()) continue;
    absl::StrAppend(&phonemes, phonemes.empty() ? "" : " ", clean, clauses[i].mark);
  }
  return Decompose(phonemes);
}

}  // namespace millrace::models
