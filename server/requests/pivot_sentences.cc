#include "server/requests/pivot_sentences.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace millrace::server {

PivotSentences::PivotSentences(models::TranslateInput second, size_t texts)
    : second_(std::move(second)), texts_(texts) {
  prefixes_ = std::exchange(second_.target_prefixes, {});
}

void PivotSentences::Add(models::TranslateOutput part) {
  Text& text = texts_[part.text_index];
  const bool is_translated = part.source_tokens > 0;
  text.source_tokens += part.source_tokens;
  std::ranges::move(part.lost, std::back_inserter(text.lost));
  if (part.text.empty() && !part.text_finished) return;
  Sentence& sentence = waiting_.emplace_back();
  sentence.text = part.text_index;
  sentence.english = std::move(part.text);
  sentence.marked = std::move(part.pivot_sentence);
  sentence.ends_text = part.text_finished;
  sentence.source_tokens = std::exchange(text.source_tokens, 0);
  sentence.lost = std::exchange(text.lost, {});
  if (sentence.source_tokens > 0) ++translated_;
  // A part in which the first model had nothing to translate has nothing for the second either; the
  // translation begins after it.
  if (prefixes_.empty() || text.has_begun || !(is_translated || part.text_finished)) return;
  text.has_begun = true;
  sentence.prefix = std::move(prefixes_[part.text_index]);
}

PivotSentences::Batch PivotSentences::Take() {
  Batch batch;
  while (!waiting_.empty() && waiting_.front().english.empty()) {
    Sentence sentence = TakeFront();
    models::TranslateOutput& done = batch.done.emplace_back();
    done.text_index = sentence.text;
    done.text_finished = sentence.ends_text;
    done.source_tokens = sentence.source_tokens;
    done.lost = std::move(sentence.lost);
  }
  at_work_.clear();
  batch.input = second_;
  while (!waiting_.empty() && !waiting_.front().english.empty()) {
    Sentence& sentence = at_work_.emplace_back(TakeFront());
    batch.input.texts.push_back(std::move(sentence.english));
    batch.input.pivot_sentences.push_back(std::move(sentence.marked));
    if (!prefixes_.empty()) batch.input.target_prefixes.push_back(std::move(sentence.prefix));
  }
  return batch;
}

PivotSentences::Sentence PivotSentences::TakeFront() {
  Sentence sentence = std::move(waiting_.front());
  waiting_.pop_front();
  if (sentence.source_tokens > 0) --translated_;
  return sentence;
}

models::TranslateOutput PivotSentences::Attribute(models::TranslateOutput part) {
  Sentence& sentence = at_work_[part.text_index];
  part.text_index = sentence.text;
  part.text_finished = part.text_finished && sentence.ends_text;
  // The first model counted the tokens of the client's text.
  part.source_tokens = std::exchange(sentence.source_tokens, 0);
  if (part.sentence_finished)
    std::ranges::move(std::exchange(sentence.lost, {}), std::back_inserter(part.lost));
  return part;
}

}  // namespace millrace::server
