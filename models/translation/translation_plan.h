#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "models/core/request.h"
#include "models/text/sentence_splitter.h"
#include "models/translation/translation_engine.h"

namespace millrace::models {

// A place in a request's texts. Compares in reading order.
struct TextCursor {
  size_t text = 0;
  size_t sentence = 0;
  size_t byte = 0;  // within a sentence that is too long for one pass

  friend auto operator<=>(const TextCursor&, const TextCursor&) = default;
};

// How the sentences of a request are translated.
struct TranslationSettings {
  SentenceFrame frame = {};
  SearchOptions search = {};
  float max_length_factor = 2.5F;  // target words per source word, plus 5
  size_t min_target = 0;           // words of a sentence
  size_t max_target = 0;           // words of a sentence; 0: by the factor
};

// A sentence in work, or a part of one that is too long for one pass.
struct TranslationUnit {
  size_t text = 0;             // of the request
  Sentence sentence;           // what is read, and the space behind it
  size_t words = 0;            // of the vocabulary, without the frame
  bool text_finished = false;  // the last of its text
  bool copied = false;         // it holds nothing the vocabulary knows, and comes out as it went in
  SentenceJob job;             // unless it is copied
  std::vector<int32_t> begun;  // what the request has the translation begin with
  size_t emitted = 0;          // bytes of its translation that went out before it is done

  bool done() const { return copied || job.done; }
};

// The sentences of a request: those in work, in reading order, and those still to come. Views into
// the request's texts. One thread at a time.
class TranslationPlan final : public RequestState {
 public:
  TranslationPlan(const std::vector<std::string>& texts, TranslationSettings settings);

  const TranslationSettings& settings() const { return settings_; }
  std::deque<TranslationUnit>& units() { return units_; }
  // Whether every sentence is in work or done.
  bool all_taken() const { return next_.text >= texts_.size(); }
  // The next sentence to take, or the rest of it; not when all are taken.
  Sentence Next() const;
  size_t next_text() const { return next_.text; }
  bool next_begins_text() const { return next_.sentence == 0 && next_.byte == 0; }
  // Takes `bytes` bytes of it.
  void Take(size_t bytes);

 private:
  const TranslationSettings settings_;
  std::vector<std::vector<Sentence>> texts_;  // a text without sentences has one that is empty
  TextCursor next_;
  std::deque<TranslationUnit> units_;
};

// That there is something to translate: InvalidArgument naming the text that is empty.
absl::Status CheckTexts(const TranslateInput& input);

}  // namespace millrace::models
