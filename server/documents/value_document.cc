#include "server/documents/value_document.h"

#include <utility>

namespace millrace::server {

void ValueDocument::Keep(std::string_view bytes) { after_ += bytes; }

void ValueDocument::Add(std::string text, std::string_view source) {
  before_.push_back(std::exchange(after_, {}));
  texts_.push_back(std::move(text));
  sources_.emplace_back(source);
}

absl::StatusOr<std::string> ValueDocument::Render(std::vector<std::string> translations) {
  std::string file;
  for (size_t i = 0; i < translations.size(); ++i) {
    file += before_[i];
    file += translations[i] == texts_[i] ? sources_[i] : write_(translations[i]);
  }
  return file + after_;
}

}  // namespace millrace::server
