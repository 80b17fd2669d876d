#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/text/english/dialect.h"

namespace millrace::models {

// The pronunciations of one word, as views into the lexicon.
class LexiconEntry {
 public:
  explicit LexiconEntry(std::string_view value) : value_(value) {}

  // Returns true if the entry was checked by hand.
  bool checked() const { return value_.starts_with('g'); }
  std::string_view phonemes() const;
  bool HasVariants() const { return value_.find('\t') != std::string_view::npos; }
  // Returns the phonemes for a part of speech ("NOUN", "VERB", "ADJ", "ADV", "VBD", "VBN", "VBP",
  // "DT"), or for "None" before a pause. Nullopt: same as phonemes(). Empty: spelled out in
  // letters.
  std::optional<std::string_view> Variant(std::string_view name) const;

 private:
  std::string_view value_;
};

// A file of English words with their phonemes in misaki's symbols, written by
// models/convert/english_lexicon.py (which describes the format) and mapped into memory, so that
// processes share its pages. Immutable, so thread-safe; views into it are valid as long as it
// exists. A look-up is a binary search that takes less than 1 us.
class EnglishLexicon {
 public:
  // Reads the whole file once to check it. Returns NotFound when it cannot be opened, and DataLoss
  // that names the file and what is wrong when it is damaged.
  static absl::StatusOr<EnglishLexicon> Open(const std::filesystem::path& path);
  EnglishLexicon(EnglishLexicon&& other) noexcept;
  EnglishLexicon& operator=(EnglishLexicon&& other) noexcept;
  ~EnglishLexicon();

  EnglishDialect dialect() const { return dialect_; }
  size_t size() const { return count_; }
  // Finds the word as it is written; case matters.
  std::optional<LexiconEntry> Find(std::string_view word) const;

 private:
  EnglishLexicon() = default;
  absl::Status Check(const std::filesystem::path& path);
  uint32_t OffsetAt(size_t index) const;
  std::string_view EntryAt(size_t index) const;

  const char* mapping_ = nullptr;
  size_t size_ = 0;
  EnglishDialect dialect_ = EnglishDialect::kUs;
  size_t count_ = 0;
  const char* offsets_ = nullptr;
  const char* text_ = nullptr;
};

}  // namespace millrace::models
