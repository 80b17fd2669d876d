#include "server/documents/value_document.h"

#include <utility>

namespace millrace::server {
namespace {

constexpr size_t kMostBytesOfCharacter = 4;

}  // namespace

void ValueDocument::Keep(std::string_view bytes) {
  if (!is_full_) after_ += bytes;
}

void ValueDocument::Add(std::string text, std::string_view source, Writer write) {
  if (is_full_) return;
  text_bytes_ += text.size();
  is_full_ =
      texts_.size() >= limits_.texts || text_bytes_ > kMostBytesOfCharacter * limits_.characters;
  before_.push_back(std::exchange(after_, {}));
  texts_.push_back(std::move(text));
  sources_.emplace_back(source);
  writers_.push_back(std::move(write));
}

absl::StatusOr<std::string> ValueDocument::Render(std::vector<std::string> translations) {
  std::string file;
  for (size_t i = 0; i < translations.size(); ++i) {
    file += before_[i];
    const Writer& write = writers_[i] ? writers_[i] : write_;
    file += translations[i] == texts_[i] ? sources_[i] : write(translations[i]);
  }
  return file + after_;
}

}  // namespace millrace::server
