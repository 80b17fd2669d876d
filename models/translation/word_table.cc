#include "models/translation/word_table.h"

#include <algorithm>
#include <utility>

#include "models/core/regular_file.h"

namespace millrace::translation {
namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581, how SentencePiece writes a space

}  // namespace

std::unique_ptr<const WordTable> WordTable::Load(const std::filesystem::path& path,
                                                 const PieceModel& pieces, int64_t words,
                                                 int32_t unknown, std::string& error) {
  const absl::StatusOr<std::string> file =
      models::ReadRegularFile(path, models::kMaxVocabularyBytes);
  if (!file.ok()) {
    error = std::string(file.status().message());
    return nullptr;
  }
  std::vector<std::string> texts;
  for (size_t at = 0; at < file->size();) {
    const size_t end = std::min(file->find('\n', at), file->size());
    texts.emplace_back(*file, at, end - at);
    at = end + 1;
  }
  if (static_cast<int64_t>(texts.size()) != words) {
    error = path.string() + ": " + std::to_string(texts.size()) + " lines, but the weights have " +
            std::to_string(words) + " words";
    return nullptr;
  }
  return std::unique_ptr<const WordTable>(new WordTable(std::move(texts), pieces, unknown));
}

WordTable::WordTable(std::vector<std::string> texts, const PieceModel& pieces, int32_t unknown)
    : texts_(std::move(texts)), unknown_(unknown) {
  for (size_t word = 0; word < texts_.size(); ++word) {
    if (!texts_[word].empty()) words_.emplace(texts_[word], static_cast<int32_t>(word));
  }
  for (int32_t id = 0; id < pieces.size(); ++id) of_piece_.push_back(WordOf(pieces.TextOf(id)));
}

int32_t WordTable::WordOf(std::string_view piece) const {
  const auto found = words_.find(piece);
  return found == words_.end() ? unknown_ : found->second;
}

std::string WordTable::Text(std::span<const int32_t> words) const {
  std::string pieces;
  for (const int32_t word : words) pieces += texts_[static_cast<size_t>(word)];
  std::string text;
  for (size_t at = 0; at < pieces.size();) {
    const size_t space = std::min(pieces.find(kSpace, at), pieces.size());
    text.append(pieces, at, space - at);
    if (space < pieces.size()) text += ' ';
    at = space + kSpace.size();
  }
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

}  // namespace millrace::translation
