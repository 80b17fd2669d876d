#pragma once

#include <cstddef>
#include <vector>

#include "models/core/payload.h"
#include "server/requests/translation_request.h"

namespace millrace::server {

// A translation in progress, by one model or by way of English. One thread at a time.
class TranslationProgress {
 public:
  // Takes all of `work` but the first model's work.
  void Start(TranslationWork& work);

  // Returns an output of the last model with the index of its text in the request. Counts the
  // tokens of a single model; a PivotPipeline counts those of its two.
  models::TranslateOutput Take(models::TranslateOutput part) const;

  const TranslationRoute& route() const { return route_; }
  // The texts of the request.
  const std::vector<TranslationText>& texts() const { return texts_; }

 private:
  TranslationRoute route_;
  std::vector<TranslationText> texts_;
  std::vector<size_t> places_;  // for each text of the model's input, its index in texts_
};

}  // namespace millrace::server
