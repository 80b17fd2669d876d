#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/core/payload.h"
#include "server/metrics/model_metrics.h"
#include "server/requests/translation_request.h"

namespace millrace::server {

// A translation under way, by one model or by two, of which the second translates what the first
// gave. Counts the models' tokens. One thread at a time.
class TranslationProgress {
 public:
  // Takes all but the work for the first model.
  void Start(TranslationWork& work);

  // An output of a model, as the client sees it: with the index of its text in the request. None
  // when the second model goes on with it.
  std::optional<models::TranslateOutput> Take(models::TranslateOutput part);
  // At the end of the first model's work: the second's; none when there is nothing more to do.
  std::optional<models::Input> Next();

  const TranslationRoute& route() const { return route_; }
  // Of the request.
  const std::vector<TranslationText>& texts() const { return texts_; }

 private:
  // What is between the two models.
  struct Half {
    std::string text;
    int64_t source_tokens = 0;
    std::vector<std::string> lost = {};
  };

  bool first_of_two() const { return route_.models.size() > model_ + 1; }

  TranslationRoute route_;
  std::vector<TranslationText> texts_;
  std::vector<size_t> places_;     // in texts_, of the texts at work
  models::TranslateInput second_;  // without texts
  std::vector<Half> halves_;       // of the texts at work
  size_t model_ = 0;               // at work, in route_.models
};

}  // namespace millrace::server
