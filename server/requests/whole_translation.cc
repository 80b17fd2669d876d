#include "server/requests/whole_translation.h"

#include <cstddef>
#include <utility>

namespace millrace::server {

void WholeTranslation::Start(TranslationWork& work) {
  results_.emplace(work.texts.size(), work.alternatives);
  for (size_t i = 0; i < work.unchanged.size(); ++i)
    results_->Add({.text_index = work.places[i], .text = std::move(work.unchanged[i])});
  progress_.Start(work);
}

}  // namespace millrace::server
