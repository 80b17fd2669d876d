#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "models/core/model_info.h"
#include "models/core/request.h"
#include "models/translation/markup/number_format.h"
#include "models/translation/markup/source_sentences.h"
#include "models/translation/translation_cache.h"
#include "models/translation/translation_engine.h"

namespace millrace::translation {

// The settings with which the sentences of a request are translated.
struct TranslationSettings {
  SentenceFrame frame = {};
  SearchOptions search = {};
  float max_length_factor = 2.5F;    // target tokens per source token, plus 5
  size_t min_target = 0;             // tokens of a sentence
  size_t max_target = 0;             // tokens of a sentence; 0: by the factor
  std::string source_language = {};  // BCP 47, by whose rules texts are split into sentences
  std::string target_language = {};  // BCP 47, by whose rules numbers are written
};

// The ways in which a model reads a short text.
enum class Reading : uint8_t {
  kWhole,        // the text as it is
  kCarrier,      // a carrier sentence of its word
  kSmallWord,    // its word in small letters
  kSmallText,    // its few words in small letters
  kCommand,      // a sentence in which its word is a verb
  kWithoutStop,  // the text without its stop, as within a sentence
};

// A sentence in progress, or a part of one that is too long for one pass.
struct TranslationUnit {
  size_t text = 0;             // index of its text in the request
  SourceSentence sentence;     // the text that the model reads, and that after it
  size_t tokens = 0;           // without those of the frame
  bool text_finished = false;  // it is the last of its text
  bool copied = false;         // it has nothing to translate, and is sent as it is
  bool in_pieces = false;      // a stream may send its translation before that is done
  bool in_capitals = false;    // it is read in lower case, and its translation is sent in capitals
  SentenceJob job;             // unused if the sentence is copied
  bool is_part = false;   // part of a sentence that is too long for one pass, but not the last part
  bool repeats = false;   // it waits for the translation of an equal part in progress
  bool remember = false;  // the translation goes into the cache
  std::vector<int32_t> begun;  // the tokens of the beginning that the request prescribes
  size_t emitted = 0;          // bytes of the translation that were sent before it was done
  std::vector<std::string> unread = {};  // parts of its text that the model reads as unknown
  size_t level = 0;  // how often it was divided because its translation lost content
  // The translation of its text alone, while the job is that of another reading of it.
  std::optional<std::string> bare = {};
  Reading reading = Reading::kWhole;
  bool names_kept = false;  // names that its translation lacked are stand-ins
  // The translation of the whole sentence, while the job is that of its subject.
  std::optional<SentenceJob> whole = {};
  bool subject_done = false;              // the subject was translated alone
  bool reviewed = false;                  // the guard has seen its translation
  MarkedText translated;                  // once it is reviewed
  std::vector<std::string> missing = {};  // the parts that the guard found missing at last

  bool done() const { return copied || job.done; }
};

// The sentences of a request: those in progress, in reading order, and those still to come. One
// thread at a time.
class TranslationPlan final : public models::RequestState {
 public:
  TranslationPlan(const models::TranslateInput& input, TranslationSettings settings,
                  Alphabet alphabet);

  const TranslationSettings& settings() const { return settings_; }
  const NumberFormats& formats() const { return formats_; }
  std::deque<TranslationUnit>& units() { return units_; }
  // Returns true if every sentence is in progress or done.
  bool all_taken() const { return text_ >= texts_.size(); }
  // Returns true once a sentence was translated rather than copied.
  bool has_translated() const { return has_translated_; }
  void SetHasTranslated() { has_translated_ = true; }
  // Returns the next sentence to take, or the rest of it. Must not be called when all are taken.
  const SourceSentence& Next() const { return texts_[text_][sentence_]; }
  size_t next_text() const { return text_; }
  // Returns true for the first sentence of a text that is not copied. Must be called once for each
  // such sentence, in order.
  bool BeginsText(size_t text);
  // Take the next sentence, or about the first `bytes` bytes of it.
  SourceSentence Take();
  SourceSentence TakeFront(size_t bytes);
  // Returns a cache of parts that may occur again in this request: a text without sentences is
  // often one pattern over and over.
  TranslationCache::ForModel parts();
  // Releases what an engine holds for the sentences in progress.
  void Suspend() override;
  // Returns the work that is left, as EstimateWork counts it. Linear in the sentences in progress.
  double WorkLeft() const;

 private:
  double WorkOf(const SourceSentence& sentence) const;

  const TranslationSettings settings_;
  const NumberFormats formats_;
  // The sentences of each text; a text without any has one that is empty.
  std::vector<std::vector<SourceSentence>> texts_;
  size_t text_ = 0;  // the text of the next sentence
  size_t sentence_ = 0;
  size_t begun_ = 0;  // one past the last text for which BeginsText returned true
  bool has_translated_ = false;
  double waiting_work_ = 0;  // the work of the sentences that are not taken
  std::deque<TranslationUnit> units_;
  std::unique_ptr<TranslationCache> parts_;  // null until there is a part
  TranslationCache::ForModel known_parts_;
};

// Returns the work of a request: about the bytes to translate, times the beam size. Linear time.
double EstimateWork(const models::TranslateInput& input);

// Returns INVALID_ARGUMENT if the input is no translation, if it has no texts, or if a text, which
// it names, is empty.
absl::Status CheckTexts(const models::Input& input, const models::ModelInfo& info);

// Returns the settings that every model takes from a request; the languages are the model's own
// where the request names none.
TranslationSettings SettingsOf(const models::TranslateInput& input,
                               const models::TranslationInfo& info);

}  // namespace millrace::translation
