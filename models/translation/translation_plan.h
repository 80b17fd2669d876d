#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "models/core/request.h"
#include "models/translation/markup/source_sentences.h"
#include "models/translation/translation_cache.h"
#include "models/translation/translation_engine.h"

namespace millrace::translation {

// How the sentences of a request are translated.
struct TranslationSettings {
  SentenceFrame frame = {};
  SearchOptions search = {};
  float max_length_factor = 2.5F;    // target tokens per source token, plus 5
  size_t min_target = 0;             // tokens of a sentence
  size_t max_target = 0;             // tokens of a sentence; 0: by the factor
  std::string source_language = {};  // BCP 47, by whose rules texts are split into sentences
};

// A sentence in work, or a part of one that is too long for one pass.
struct TranslationUnit {
  size_t text = 0;             // of the request
  SourceSentence sentence;     // what is read, and what stands behind it
  size_t tokens = 0;           // of the vocabulary, without the frame
  bool text_finished = false;  // the last of its text
  bool copied = false;         // it holds nothing to translate, and comes out as it went in
  bool in_capitals = false;    // it was, is read in small letters, and comes out in capitals
  SentenceJob job;             // unless it is copied
  bool is_part = false;        // of a sentence that is too long for one pass; not the last one
  bool repeats = false;        // an equal part before it is at work, whose translation it takes
  bool remember = false;       // the job's translation is to go into the cache
  std::vector<int32_t> begun;  // what the request has the translation begin with
  size_t emitted = 0;          // bytes of its translation that went out before it is done
  std::vector<std::string> unread = {};  // parts of its text that the model reads as unknown

  bool done() const { return copied || job.done; }
};

// The sentences of a request: those in work, in reading order, and those still to come. One thread
// at a time.
class TranslationPlan final : public models::RequestState {
 public:
  TranslationPlan(const models::TranslateInput& input, TranslationSettings settings,
                  Alphabet alphabet);

  const TranslationSettings& settings() const { return settings_; }
  std::deque<TranslationUnit>& units() { return units_; }
  // Whether every sentence is in work or done.
  bool all_taken() const { return text_ >= texts_.size(); }
  // Whether a sentence was translated, rather than copied.
  bool has_translated() const { return has_translated_; }
  void SetHasTranslated() { has_translated_ = true; }
  // The next sentence to take, or the rest of it; not when all are taken.
  const SourceSentence& Next() const { return texts_[text_][sentence_]; }
  size_t next_text() const { return text_; }
  // Whether a sentence of that text, which is to be translated, is the first such one. Asked once
  // for each, in order.
  bool BeginsText(size_t text);
  // Takes it, or about the first `bytes` bytes of it.
  SourceSentence Take();
  SourceSentence TakeFront(size_t bytes);
  // Translations of parts that may come again: a text without sentences is often one pattern over
  // and over.
  TranslationCache::ForModel parts();
  // The sentences in work give back what an engine holds for them.
  void Suspend() override;
  // The work of all that is not done, as EstimateWork counts it. Looks at each sentence in work.
  double WorkLeft() const;

 private:
  double WorkOf(const SourceSentence& sentence) const;

  const TranslationSettings settings_;
  // A text without sentences has one that is empty.
  std::vector<std::vector<SourceSentence>> texts_;
  size_t text_ = 0;  // of the next sentence
  size_t sentence_ = 0;
  size_t begun_ = 0;  // texts of which a sentence is translated, or were before
  bool has_translated_ = false;
  double waiting_work_ = 0;  // of the sentences that are not taken
  std::deque<TranslationUnit> units_;
  std::unique_ptr<TranslationCache> parts_;  // once there is a part
  TranslationCache::ForModel known_parts_;
};

// The work of a request, in bytes to translate for each hypothesis that is kept. Linear time.
double EstimateWork(const models::TranslateInput& input);

// INVALID_ARGUMENT, which names the text, if a text is empty.
absl::Status CheckTexts(const models::TranslateInput& input);

}  // namespace millrace::translation
