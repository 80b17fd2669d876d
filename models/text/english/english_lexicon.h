#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/text/english/dialect.h"

namespace millrace::models {

// The pronunciations of one word: views into the lexicon.
class LexiconEntry {
 public:
  explicit LexiconEntry(std::string_view value) : value_(value) {}

  // Whether it was checked by hand.
  bool checked() const { return value_.starts_with('g'); }
  std::string_view phonemes() const;
  bool HasVariants() const { return value_.find('\t') != std::string_view::npos; }
  // Of a part of speech ("NOUN", "VERB", "ADJ", "ADV", "VBD", "VBN", "VBP", "DT"), or "None" where
  // a pause follows. Nullopt: as phonemes(). Empty: spelled out in letters.
  std::optional<std::string_view> Variant(std::string_view name) const;

 private:
  std::string_view value_;
};

// A file of English words with their phonemes in misaki's symbols, as
// models/convert/english_lexicon.py writes it (the format is described there), mapped into memory:
// pages are shared between processes. Immutable, so thread-safe; views into it hold as long as it
// lives. A look-up is a binary search, below 1 us.
class EnglishLexicon {
 public:
  // Reads the whole file once to check it. NotFound when it cannot be opened, DataLoss naming the
  // file and what is wrong when it is damaged.
  static absl::StatusOr<EnglishLexicon> Open(const std::filesystem::path& path);
  EnglishLexicon(EnglishLexicon&& other) noexcept;
  EnglishLexicon& operator=(EnglishLexicon&& other) noexcept;
  ~EnglishLexicon();

  EnglishDialect dialect() const { return dialect_; }
  size_t size() const { return count_; }
  // The word as it is written; letter case counts.
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
