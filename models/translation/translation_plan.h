#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "models/core/request.h"
#include "models/text/sentence_splitter.h"

namespace millrace::models {

// A place in a request's texts. Compares in reading order.
struct TextCursor {
  size_t text = 0;
  size_t sentence = 0;
  size_t byte = 0;  // within a sentence that is too long for one pass

  friend auto operator<=>(const TextCursor&, const TextCursor&) = default;
};

// The sentences of a request and how many of them are done. Views into the request's texts. Reading
// ahead moves nothing: only Advance does, once a step has its results. One thread at a time.
class TranslationPlan final : public RequestState {
 public:
  explicit TranslationPlan(const std::vector<std::string>& texts);

  const TextCursor& begin() const { return done_; }
  bool AtEnd(const TextCursor& cursor) const { return cursor.text >= texts_.size(); }
  // The rest of the sentence at the cursor, and the space behind it.
  Sentence At(const TextCursor& cursor) const;
  // Behind `bytes` bytes of the sentence's text; behind all of it, the next sentence.
  TextCursor After(TextCursor cursor, size_t bytes) const;
  void Advance(const TextCursor& cursor) { done_ = cursor; }

 private:
  std::vector<std::vector<Sentence>> texts_;  // a text without sentences has one that is empty
  TextCursor done_;
};

// That there is something to translate: InvalidArgument naming the text that is empty.
absl::Status CheckTexts(const TranslateInput& input);

}  // namespace millrace::models
