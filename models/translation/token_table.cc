#include "models/translation/token_table.h"

#include <algorithm>
#include <utility>

#include "models/core/errors.h"
#include "models/core/regular_file.h"

namespace millrace::translation {
namespace {

// U+2581, which SentencePiece writes for a space.
constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

}  // namespace

absl::StatusOr<std::unique_ptr<const TokenTable>> TokenTable::Load(
    const std::filesystem::path& path, const PieceModel& pieces, int64_t tokens, int32_t unknown) {
  const absl::StatusOr<std::string> file =
      models::ReadRegularFile(path, models::kMaxVocabularyBytes);
  if (!file.ok()) return DataLoss(file.status().message());
  std::vector<std::string> texts;
  for (size_t at = 0; at < file->size();) {
    const size_t end = std::min(file->find('\n', at), file->size());
    texts.emplace_back(*file, at, end - at);
    at = end + 1;
  }
  if (static_cast<int64_t>(texts.size()) != tokens) {
    return DataLoss(path.string(), ": ", texts.size(), " lines, but the weights have ", tokens,
                    " tokens");
  }
  return std::unique_ptr<const TokenTable>(new TokenTable(std::move(texts), pieces, unknown));
}

TokenTable::TokenTable(std::vector<std::string> texts, const PieceModel& pieces, int32_t unknown)
    : texts_(std::move(texts)), unknown_(unknown) {
  for (size_t token = 0; token < texts_.size(); ++token) {
    if (!texts_[token].empty()) tokens_.emplace(texts_[token], static_cast<int32_t>(token));
  }
  for (int32_t id = 0; id < pieces.size(); ++id) of_piece_.push_back(TokenOf(pieces.TextOf(id)));
}

int32_t TokenTable::TokenOf(std::string_view piece) const {
  const auto found = tokens_.find(piece);
  return found == tokens_.end() ? unknown_ : found->second;
}

std::string TokenTable::Text(std::span<const int32_t> tokens) const {
  std::string pieces;
  for (const int32_t token : tokens) pieces += texts_[static_cast<size_t>(token)];
  std::string text;
  for (size_t at = 0; at < pieces.size();) {
    const size_t space = std::min(pieces.find(kSpaceMark, at), pieces.size());
    text.append(pieces, at, space - at);
    if (space < pieces.size()) text += ' ';
    at = space + kSpaceMark.size();
  }
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

}  // namespace millrace::translation
