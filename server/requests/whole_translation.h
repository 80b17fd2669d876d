#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "models/core/payload.h"
#include "server/requests/translation_progress.h"
#include "server/requests/translation_request.h"
#include "server/requests/translation_results.h"

namespace millrace::server {

// The translations of a request whose reply is one message. One thread at a time.
class WholeTranslation {
 public:
  // Takes all of `work` but the first model's work.
  void Start(TranslationWork& work);
  // Takes an output of the last model.
  void Add(models::TranslateOutput part) { results_->Add(progress_.Take(std::move(part))); }
  // Returns the translations of the request's texts, in their order.
  std::vector<TranslationResults::Text> Take() { return results_->Take(); }

  const TranslationRoute& route() const { return progress_.route(); }
  // The texts of the request.
  const std::vector<TranslationText>& texts() const { return progress_.texts(); }

 private:
  TranslationProgress progress_;
  std::optional<TranslationResults> results_;  // set by Start
};

}  // namespace millrace::server
