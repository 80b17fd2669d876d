#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/core/payload.h"

namespace millrace::server {

// The sentences between the two models of a translation by way of English. The second model gets
// each sentence as a text of its own, so that its translation does not depend on the sentences that
// were ready with it. Text indices are those of the first model's input. One thread at a time.
class PivotSentences {
 public:
  // The input of one job of the second model.
  struct Batch {
    std::vector<models::TranslateOutput>
        done;                      // comes before; the second model has no work with it
    models::TranslateInput input;  // without texts when there is nothing else
  };

  // second: the second model's input, without texts, and with a prefix for each text or none.
  // texts: the number of texts.
  PivotSentences(models::TranslateInput second, size_t texts);

  // Adds an output of the first model.
  void Add(models::TranslateOutput part);
  // The number of sentences that wait for the second model, and of those among them that the first
  // model translated rather than copied.
  size_t waiting() const { return waiting_.size(); }
  size_t translated() const { return translated_; }
  // Takes all waiting sentences. The second model must be done with those taken before.
  Batch Take();
  // Assigns an output of the second model to the text of its sentence.
  models::TranslateOutput Attribute(models::TranslateOutput part);

 private:
  struct Sentence {
    size_t text = 0;
    std::string english;
    std::shared_ptr<const models::PivotSentence> marked;
    std::string prefix;  // the prescribed beginning of its translation
    bool ends_text = false;
    // The first model's results for the sentence.
    int64_t source_tokens = 0;
    std::vector<std::string> lost;
  };
  struct Text {
    bool has_begun = false;  // a sentence of it was translated
    // The first model's results for parts without a translation. They go to the next sentence.
    int64_t source_tokens = 0;
    std::vector<std::string> lost = {};
  };

  Sentence TakeFront();

  models::TranslateInput second_;
  std::vector<std::string> prefixes_;
  std::vector<Text> texts_;
  std::deque<Sentence> waiting_;
  size_t translated_ = 0;  // how many of waiting_ are translated
  std::vector<Sentence> at_work_;
};

}  // namespace millrace::server
