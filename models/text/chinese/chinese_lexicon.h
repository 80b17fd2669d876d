#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace millrace::models {

// A word of Chinese characters.
struct ChineseWord {
  uint64_t frequency = 0;   // 0: it has only a reading
  std::string_view pinyin;  // syllables with tone numbers; empty: those of its characters
};

// A file of words with frequencies and readings, of the phonemes of syllables, and of how
// characters form words that it lacks, written by models/convert/chinese_lexicon.py (which
// describes the format). Immutable, so thread-safe; views into it are valid as long as it exists.
class ChineseLexicon {
 public:
  // The places of a character in a word: beginning, middle, end, and a word of its own.
  enum State : size_t { kBegin, kMiddle, kEnd, kSingle, kStates };
  using Logarithms = std::array<double, kStates>;

  // Returns NotFound when the file cannot be read, and DataLoss that names the file and the line
  // when it is damaged.
  static absl::StatusOr<ChineseLexicon> Open(const std::filesystem::path& path);
  ChineseLexicon(ChineseLexicon&&) = default;
  ChineseLexicon& operator=(ChineseLexicon&&) = default;

  // A binary search.
  std::optional<ChineseWord> Find(std::string_view word) const;
  // Returns true if a word begins with the characters.
  bool HasPrefix(std::string_view characters) const;
  // Returns the phonemes of a syllable in pinyin; empty if they are not known.
  std::string_view Phonemes(std::string_view syllable) const;

  // Returns true if the phonemes mark the tone as it is spoken in company, by a digit.
  bool marks_spoken_tones() const { return marks_spoken_tones_; }

  double total() const { return total_; }
  const Logarithms& start() const { return start_; }
  const std::array<Logarithms, kStates>& transitions() const { return transitions_; }
  // Logarithms of the probability of a character in each state.
  Logarithms Emissions(std::string_view character) const;

  // The logarithm of what never happens.
  static constexpr double kNever = -3.14e100;

 private:
  ChineseLexicon() = default;
  absl::Status Parse(const std::filesystem::path& path);
  bool ParseLine(std::string_view section, size_t begin, std::string_view line);
  std::string_view LineAt(size_t begin) const;
  // Returns the index of the first word that is not less.
  size_t LowerBound(std::string_view word) const;

  std::vector<char> text_;  // views into it stay valid when the lexicon moves
  std::vector<uint32_t> words_;
  absl::flat_hash_map<std::string_view, std::string_view> syllables_;
  absl::flat_hash_map<std::string_view, Logarithms> emissions_;
  double total_ = 0;
  bool marks_spoken_tones_ = false;
  Logarithms start_ = {};
  std::array<Logarithms, kStates> transitions_ = {};
};

}  // namespace millrace::models
