#include "models/translation/translation_plan.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace millrace::models {

TranslationPlan::TranslationPlan(const std::vector<std::string>& texts,
                                 TranslationSettings settings)
    : settings_(std::move(settings)) {
  texts_.reserve(texts.size());
  for (const std::string& text : texts) {
    texts_.push_back(SplitSentences(text));
    if (texts_.back().empty()) texts_.back().emplace_back();
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

Sentence TranslationPlan::Next() const {
  Sentence sentence = texts_[next_.text][next_.sentence];
  sentence.text.remove_prefix(next_.byte);
  return sentence;
}

void TranslationPlan::Take(size_t bytes) {
  next_.byte += bytes;
  if (next_.byte < texts_[next_.text][next_.sentence].text.size()) return;
  next_.byte = 0;
  if (++next_.sentence < texts_[next_.text].size()) return;
  next_.sentence = 0;
  ++next_.text;
}

}  // namespace millrace::models
