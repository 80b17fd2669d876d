#include "server/requests/translation_results.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace millrace::server {

TranslationResults::TranslationResults(size_t texts, size_t alternatives)
    : alternatives_(alternatives), entries_(texts) {}

void TranslationResults::Add(models::TranslateOutput part) {
  Entry& entry = entries_[part.text_index];
  entry.text.source_tokens += part.source_tokens;
  entry.text.target_tokens += part.target_tokens;
  entry.sentence += part.text;
  std::ranges::move(part.lost, std::back_inserter(entry.text.lost));
  if (!part.sentence_finished) return;
  entry.text.alternatives.resize(alternatives_);
  for (size_t k = 0; k < alternatives_; ++k) {
    models::TranslationAlternative& whole = entry.text.alternatives[k];
    const bool other = k < part.alternatives.size();
    whole.text += other ? part.alternatives[k].text : entry.sentence;
    whole.score += other ? part.alternatives[k].score : part.score;
  }
  entry.text.text += std::exchange(entry.sentence, {});
  entry.text.score += part.score;
}

std::vector<TranslationResults::Text> TranslationResults::Take() {
  std::vector<Text> texts;
  texts.reserve(entries_.size());
  for (Entry& entry : entries_) {
    Text& text = texts.emplace_back(std::move(entry.text));
    std::vector<models::TranslationAlternative> all = std::exchange(text.alternatives, {});
    for (models::TranslationAlternative& one : all) {
      const bool known =
          one.text == text.text ||
          std::ranges::find(text.alternatives, one.text, &models::TranslationAlternative::text) !=
              text.alternatives.end();
      if (!known) text.alternatives.push_back(std::move(one));
    }
  }
  return texts;
}

}  // namespace millrace::server
