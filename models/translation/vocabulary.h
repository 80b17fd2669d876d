#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/translation/markup/alphabet.h"
#include "models/translation/piece_model.h"
#include "models/translation/token_table.h"

namespace millrace::translation {

// Text to tokens and back, with a SentencePiece model: tokens are its pieces, or stand in a table
// of their own, as where each language has pieces of its own. Thread-safe.
class Vocabulary {
 public:
  // A beginning of a text, as tokens.
  struct Prefix {
    std::vector<int32_t> tokens;
    size_t bytes = 0;  // how much of the text it is; all of it unless that gives too many tokens
  };

  // Null with the reason when the file is not a SentencePiece model of that many tokens.
  static std::unique_ptr<const Vocabulary> Load(const std::filesystem::path& path, int64_t tokens,
                                                std::string& error);
  // Tokens by a table: a file with the piece of each token, a line each; an empty line is a token
  // that no text has and that is nothing in text. Pieces that it lacks become `unknown`.
  static std::unique_ptr<const Vocabulary> LoadWithTable(const std::filesystem::path& pieces,
                                                         const std::filesystem::path& table,
                                                         int64_t tokens, int32_t unknown,
                                                         std::string& error);
  ~Vocabulary();

  // Tokens of the text's beginning: all of it, or as much as gives at most max_tokens, cut where a
  // word of the language starts if there is one. Takes at least one code point of a text that is
  // not empty. Time linear in what it takes, not in the text.
  Prefix Encode(std::string_view text, size_t max_tokens) const;
  // Where each token of a text begins there: bytes, behind the white space before it.
  std::vector<size_t> PlacesOf(std::string_view text) const;
  // Where each token ends in what Decode gives: bytes. Linear time.
  std::vector<size_t> EndsOf(std::span<const int32_t> tokens) const;
  std::string Decode(std::span<const int32_t> tokens) const;

  // Whether there is anything to translate: emoji and letters of other scripts are unknown.
  bool AnyKnown(std::span<const int32_t> tokens) const;
  bool IsUnknown(int32_t token) const;
  // The parts of a text that have become unknown tokens, in order. Views into the text.
  std::vector<std::string_view> UnknownParts(std::string_view text) const;
  // How the character comes through the vocabulary alone. It is encoded when it is first asked for,
  // which takes a microsecond; later the answer is looked up.
  CharacterFit FitOf(char32_t c) const;

 private:
  Vocabulary(std::unique_ptr<const PieceModel> pieces, std::unique_ptr<const TokenTable> table);

  std::vector<int32_t> TokensOf(std::string_view text) const;
  CharacterFit TryCharacter(char32_t c) const;
  CharacterFit TryText(const std::string& text) const;

  const std::unique_ptr<const PieceModel> pieces_;
  const std::unique_ptr<const TokenTable> table_;  // none: tokens are the pieces
  int32_t space_ = 0;                              // the piece that stands for a space alone
  // By code point: 0 until it was tried, then 1 more than its CharacterFit.
  const std::unique_ptr<std::atomic<uint8_t>[]> fits_;
};

// Of sources and of translations; one and the same where the languages share it.
struct Vocabularies {
  std::shared_ptr<const Vocabulary> source;
  std::shared_ptr<const Vocabulary> target;
};

}  // namespace millrace::translation
