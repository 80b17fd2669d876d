#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/core/payload.h"

namespace millrace::server {

// Joins the translated sentences of texts. One thread at a time.
class TranslationResults {
 public:
  struct Text {
    std::string text;
    int64_t source_tokens = 0;
    int64_t target_tokens = 0;
    float score = 0;  // summed over the sentences
    // The k-th alternative joins the k-th of each sentence, or its best where it has fewer.
    // Duplicates, and those equal to the text, are left out.
    std::vector<models::TranslationAlternative> alternatives = {};
    std::vector<std::string> lost = {};  // as TranslateOutput::lost, of all sentences
  };

  // texts: their number in the request. alternatives: the most for each text.
  TranslationResults(size_t texts, size_t alternatives);

  // Adds an output. Those of one text must come in order.
  void Add(models::TranslateOutput part);
  std::vector<Text> Take();

 private:
  struct Entry {
    Text text;
    std::string sentence;  // its pieces are still arriving
  };

  size_t alternatives_;
  std::vector<Entry> entries_;
};

}  // namespace millrace::server
