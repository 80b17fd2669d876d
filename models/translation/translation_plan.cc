#include "models/translation/translation_plan.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "models/core/errors.h"
#include "models/core/text_work.h"

namespace millrace::translation {
namespace {

// The greatest part of a sentence that counts as done before its end. A translation is seldom
// longer than its source; if it is, the excess is not counted.
constexpr double kMostDone = 0.9;

// Returns the bytes of HTML outside tags, as far as brackets tell.
size_t CountOutsideTags(std::string_view html) {
  size_t count = 0;
  bool tag = false;
  for (const char c : html) {
    if (c == '<') tag = true;
    if (!tag) ++count;
    if (c == '>') tag = false;
  }
  return count;
}

}  // namespace

double EstimateWork(const models::TranslateInput& input) {
  double work = 0;
  for (const std::string& text : input.texts) {
    work += models::kSentenceWork + static_cast<double>(input.format == models::TextFormat::kHtml
                                                            ? CountOutsideTags(text)
                                                            : text.size());
  }
  return work * input.search.beam_size.value_or(1);
}

TranslationPlan::TranslationPlan(const models::TranslateInput& input, TranslationSettings settings,
                                 Alphabet alphabet)
    : settings_(std::move(settings)),
      formats_(NumberFormatsOf(settings_.source_language, settings_.target_language)) {
  models::TermIndex terms;
  for (const models::GlossaryEntry& entry : input.glossary) terms.Add(entry.source, entry.target);
  for (const std::string& term : input.do_not_translate) terms.Add(term, {});
  terms.Build();
  texts_.reserve(input.texts.size());
  const std::string& language = settings_.source_language;
  const std::string& target = settings_.target_language;
  for (size_t i = 0; i < input.texts.size(); ++i) {
    const auto* translated =
        input.pivot_sentences.empty()
            ? nullptr
            : static_cast<const TranslatedSentence*>(input.pivot_sentences[i].get());
    texts_.push_back(
        translated != nullptr
            ? ReadSentences(*translated, language, terms, alphabet, target)
            : ReadSentences(input.texts[i], input.format, language, terms, alphabet, target));
    if (texts_.back().empty()) texts_.back().emplace_back();
    for (const SourceSentence& sentence : texts_.back()) waiting_work_ += WorkOf(sentence);
  }
}

double TranslationPlan::WorkOf(const SourceSentence& sentence) const {
  // Texts of numbers pass through steps too, and would make a model look slow if they were no work.
  if (!sentence.has_words) return models::kSentenceWork;
  return (models::kSentenceWork + static_cast<double>(sentence.marked.text.size())) *
         settings_.search.beam_size;
}

double TranslationPlan::WorkLeft() const {
  double work = waiting_work_;
  for (const TranslationUnit& unit : units_) {
    // A sentence that is translated again was counted as done with its first translation.
    if (unit.done() || unit.level > 0 || unit.bare) continue;
    const double done =
        static_cast<double>(unit.job.target.size()) / static_cast<double>(unit.tokens + 1);
    work += WorkOf(unit.sentence) * (1 - std::min(done, kMostDone));
  }
  return work;
}

bool TranslationPlan::BeginsText(size_t text) {
  if (text < begun_) return false;
  begun_ = text + 1;
  return true;
}

SourceSentence TranslationPlan::Take() {
  waiting_work_ -= WorkOf(texts_[text_][sentence_]);
  SourceSentence taken = std::move(texts_[text_][sentence_]);
  if (++sentence_ == texts_[text_].size()) {
    // Sentences that were taken are not needed any more.
    texts_[text_++] = {};
    sentence_ = 0;
  }
  return taken;
}

SourceSentence TranslationPlan::TakeFront(size_t bytes) {
  SourceSentence& sentence = texts_[text_][sentence_];
  waiting_work_ -= WorkOf(sentence);
  SourceSentence front = translation::TakeFront(sentence, bytes);
  waiting_work_ += WorkOf(sentence);
  if (sentence.marked.text.empty()) front.behind += Take().behind;
  return front;
}

TranslationCache::ForModel TranslationPlan::parts() {
  if (parts_ == nullptr) {
    parts_ = std::make_unique<TranslationCache>(
        TranslationCache::Limits{.max_bytes = 1 << 20, .max_entries = 1024});
    known_parts_ = parts_->MakeForModel();
  }
  return known_parts_;
}

void TranslationPlan::Suspend() {
  for (TranslationUnit& unit : units_) {
    if (!unit.done()) unit.job.Suspend();
  }
}

absl::Status CheckTexts(const models::Input& input, const models::ModelInfo& info) {
  const auto* translate = std::get_if<models::TranslateInput>(&input);
  if (translate == nullptr) {
    return InvalidArgument("model '", info.name, "' translates text; it takes no other input");
  }
  const std::vector<std::string>& texts = translate->texts;
  if (texts.empty()) return InvalidArgument("texts: at least one is needed");
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) return InvalidArgument("texts[", i, "]: is empty");
  }
  return absl::OkStatus();
}

TranslationSettings SettingsOf(const models::TranslateInput& input,
                               const models::TranslationInfo& info) {
  return {.max_target = static_cast<size_t>(input.search.max_target_tokens.value_or(0)),
          .source_language =
              input.source_language.empty() ? info.source_language : input.source_language,
          .target_language =
              input.target_language.empty() ? info.target_language : input.target_language};
}

}  // namespace millrace::translation
