#include "server/requests/translation_progress.h"

#include <utility>

namespace millrace::server {

void TranslationProgress::Start(TranslationWork& work) {
  route_ = std::move(work.route);
  texts_ = std::move(work.texts);
  places_ = std::move(work.places);
}

models::TranslateOutput TranslationProgress::Take(models::TranslateOutput part) const {
  if (route_.models.size() == 1)
    route_.models.front()->metrics().CountTokens(part.source_tokens, part.target_tokens);
  part.text_index = places_[part.text_index];
  return part;
}

}  // namespace millrace::server
