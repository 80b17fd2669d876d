#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "models/translation/piece_model.h"

namespace millrace::translation {

// The tokens of a vocabulary whose order differs from that of the SentencePiece model. Immutable,
// so thread-safe.
class TokenTable {
 public:
  // DATA_LOSS when the file does not have that many lines.
  static absl::StatusOr<std::unique_ptr<const TokenTable>> Load(const std::filesystem::path& path,
                                                                const PieceModel& pieces,
                                                                int64_t tokens, int32_t unknown);

  int32_t unknown() const { return unknown_; }
  // Returns the token of a piece, which is given by its text or by its number in the model.
  int32_t TokenOf(std::string_view piece) const;
  int32_t TokenOfPiece(int32_t id) const { return of_piece_[static_cast<size_t>(id)]; }
  // Returns the text without white space at its ends.
  std::string Text(std::span<const int32_t> tokens) const;

 private:
  TokenTable(std::vector<std::string> texts, const PieceModel& pieces, int32_t unknown);

  const std::vector<std::string> texts_;  // by token
  const int32_t unknown_;
  std::unordered_map<std::string_view, int32_t> tokens_;  // keys in texts_
  std::vector<int32_t> of_piece_;
};

}  // namespace millrace::translation
