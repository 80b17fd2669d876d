#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/translation/markup/alphabet.h"
#include "models/translation/piece_model.h"
#include "models/translation/token_table.h"

namespace millrace::translation {

// Encodes text as tokens and decodes tokens, with a PieceModel. Tokens are its pieces, or those of
// a TokenTable where the model's order differs. Thread-safe.
class Vocabulary {
 public:
  // The beginning of a text as tokens.
  struct Prefix {
    std::vector<int32_t> tokens;
    size_t bytes = 0;  // its length in the text; the whole text unless that has too many tokens
  };

  // DATA_LOSS when the file is not a SentencePiece model with that many pieces.
  static absl::StatusOr<std::unique_ptr<const Vocabulary>> Load(const std::filesystem::path& path,
                                                                int64_t tokens);
  // table: a file with the piece of each token, one on each line. An empty line is a token that no
  // text has and that decodes to nothing. Pieces that are not in the table become `unknown`.
  static absl::StatusOr<std::unique_ptr<const Vocabulary>> LoadWithTable(
      const std::filesystem::path& pieces, const std::filesystem::path& table, int64_t tokens,
      int32_t unknown);
  ~Vocabulary();

  // Encodes the whole text, or as much of it as has at most max_tokens tokens, cut at the beginning
  // of a word if possible. Encodes at least one code point of a text that is not empty. The time is
  // linear in what is encoded, not in the text.
  Prefix Encode(std::string_view text, size_t max_tokens) const;
  // Returns the byte at which each token of a text begins, after the white space before it.
  std::vector<size_t> PlacesOf(std::string_view text) const;
  // Returns the byte at which each token ends in the result of Decode. Linear time.
  std::vector<size_t> EndsOf(std::span<const int32_t> tokens) const;
  std::string Decode(std::span<const int32_t> tokens) const;

  // Returns true if any token but a space is known. Emoji and letters of other scripts are unknown.
  bool AnyKnown(std::span<const int32_t> tokens) const;
  bool IsUnknown(int32_t token) const;
  // Returns the parts of a text that become unknown tokens, in order, as views into the text.
  std::vector<std::string_view> UnknownParts(std::string_view text) const;
  // Returns how the vocabulary reproduces the character. The first call for a character encodes it,
  // which takes a microsecond; later calls look it up.
  CharacterFit FitOf(char32_t c) const;

 private:
  static constexpr size_t kFitsOfPage = 256;
  static constexpr size_t kFitPages = 0x110000 / kFitsOfPage;
  // The fits of neighbouring code points: 0 until one was tried, then its CharacterFit plus 1.
  using FitPage = std::array<std::atomic<uint8_t>, kFitsOfPage>;

  Vocabulary(std::shared_ptr<const PieceModel> pieces, std::unique_ptr<const TokenTable> table);

  std::vector<int32_t> TokensOf(std::string_view text) const;
  CharacterFit TryCharacter(char32_t c) const;
  CharacterFit TryText(const std::string& text) const;

  FitPage& FitPageOf(char32_t c) const;

  const std::shared_ptr<const PieceModel> pieces_;
  const std::unique_ptr<const TokenTable> table_;  // null: tokens are the pieces
  int32_t space_ = 0;                              // the token of a single space
  // By code point / kFitsOfPage; null until one of the page was tried. A text needs few of them.
  const std::unique_ptr<std::atomic<FitPage*>[]> fits_;
};

// The vocabularies of sources and of translations: the same object where the languages share one.
struct Vocabularies {
  std::shared_ptr<const Vocabulary> source;
  std::shared_ptr<const Vocabulary> target;
};

}  // namespace millrace::translation
