#include "models/translation/translation_plan.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace millrace::models {

TranslationPlan::TranslationPlan(const TranslateInput& input, TranslationSettings settings)
    : settings_(std::move(settings)) {
  TermIndex terms;
  for (const GlossaryEntry& entry : input.glossary) terms.Add(entry.source, entry.target);
  for (const std::string& term : input.do_not_translate) terms.Add(term, {});
  terms.Finish();
  texts_.reserve(input.texts.size());
  for (const std::string& text : input.texts) {
    texts_.push_back(ReadSentences(text, input.format, settings_.source_language, terms));
    if (texts_.back().empty()) texts_.back().emplace_back();
  }
}

bool TranslationPlan::BeginsText(size_t text) {
  if (text < begun_) return false;
  begun_ = text + 1;
  return true;
}

SourceSentence TranslationPlan::Take() {
  SourceSentence taken = std::move(texts_[text_][sentence_]);
  if (++sentence_ == texts_[text_].size()) {
    // What was taken is not needed any more.
    texts_[text_++] = {};
    sentence_ = 0;
  }
  return taken;
}

SourceSentence TranslationPlan::TakeFront(size_t bytes) {
  SourceSentence& sentence = texts_[text_][sentence_];
  SourceSentence front = models::TakeFront(sentence, bytes);
  if (sentence.marked.text.empty()) front.behind += Take().behind;
  return front;
}

void TranslationPlan::Suspend() {
  for (TranslationUnit& unit : units_) {
    if (!unit.done()) unit.job.Suspend();
  }
}

absl::Status CheckTexts(const TranslateInput& input) {
  if (input.texts.empty()) return absl::InvalidArgumentError("texts: at least one is needed");
  for (size_t i = 0; i < input.texts.size(); ++i) {
    if (input.texts[i].empty())
      return absl::InvalidArgumentError(absl::StrCat("texts[", i, "]: is empty"));
  }
  return absl::OkStatus();
}

}  // namespace millrace::models
