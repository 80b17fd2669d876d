#include "models/translation/translation_plan.h"

#include "absl/strings/str_cat.h"

namespace millrace::models {

TranslationPlan::TranslationPlan(const std::vector<std::string>& texts) {
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

Sentence TranslationPlan::At(const TextCursor& cursor) const {
  Sentence sentence = texts_[cursor.text][cursor.sentence];
  sentence.text.remove_prefix(cursor.byte);
  return sentence;
}

TextCursor TranslationPlan::After(TextCursor cursor, size_t bytes) const {
  cursor.byte += bytes;
  if (cursor.byte < texts_[cursor.text][cursor.sentence].text.size()) return cursor;
  cursor.byte = 0;
  if (++cursor.sentence < texts_[cursor.text].size()) return cursor;
  cursor.sentence = 0;
  ++cursor.text;
  return cursor;
}

}  // namespace millrace::models
