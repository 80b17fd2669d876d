#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/core/payload.h"

namespace millrace::server {

// Puts the sentences of texts together. One thread at a time.
class TranslationResults {
 public:
  struct Text {
    std::string text;
    int64_t source_tokens = 0;
    int64_t target_tokens = 0;
    float score = 0;  // summed over the sentences
    // The k-th is made of the k-th of each sentence, or of its best where it has no so many; none
    // twice, and none that is the text.
    std::vector<models::TranslationAlternative> alternatives = {};
    std::vector<std::string> lost = {};  // as TranslateOutput::lost, of all sentences
  };

  // texts: of the request. alternatives: at most so many of each text.
  TranslationResults(size_t texts, size_t alternatives);

  // The outputs of a text in their order.
  void Add(models::TranslateOutput part);
  std::vector<Text> Take();

 private:
  struct Entry {
    Text text;
    std::string sentence;  // of which pieces have come
  };

  size_t alternatives_;
  std::vector<Entry> entries_;
};

}  // namespace millrace::server
