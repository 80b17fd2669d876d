#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/core/payload.h"

namespace millrace::server {

// The sentences that are between the two models of a translation by way of English: the second
// model gets each sentence as a text of its own, so that its translation does not depend on which
// others were ready with it. Texts are those of the first model's input. One thread at a time.
class PivotSentences {
 public:
  // What goes to the second model together.
  struct Batch {
    std::vector<models::TranslateOutput>
        done;                      // comes before; the second model has no work with it
    models::TranslateInput input;  // without texts when there is nothing else
  };

  // second: what the second model is to do, without texts, but with a prefix for each text or none.
  // texts: their number.
  PivotSentences(models::TranslateInput second, size_t texts);

  // Takes an output of the first model.
  void Add(models::TranslateOutput part);
  // How many sentences wait for the second model, and how many of them the first has translated
  // rather than copied.
  size_t waiting() const { return waiting_.size(); }
  size_t translated() const { return translated_; }
  // Takes all that wait. The second model must be done with those taken before.
  Batch Take();
  // An output of the second model, for the text that its sentence is of.
  models::TranslateOutput Attribute(models::TranslateOutput part);

 private:
  struct Sentence {
    size_t text = 0;
    std::string english;
    std::shared_ptr<const models::PivotSentence> marked;
    std::string prefix;  // what its translation begins with
    bool ends_text = false;
    // What the first model says of the sentence.
    int64_t source_tokens = 0;
    std::vector<std::string> lost;
  };
  struct Text {
    bool has_begun = false;  // a sentence of it was translated
    // What the first model says of parts that have no translation. It goes to the next sentence.
    int64_t source_tokens = 0;
    std::vector<std::string> lost = {};
  };

  Sentence TakeFront();

  models::TranslateInput second_;
  std::vector<std::string> prefixes_;
  std::vector<Text> texts_;
  std::deque<Sentence> waiting_;
  size_t translated_ = 0;  // of waiting_
  std::vector<Sentence> at_work_;
};

}  // namespace millrace::server
