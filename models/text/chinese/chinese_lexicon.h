#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
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
  // A state of the hidden Markov model and a logarithm of its probability.
  struct State {
    size_t state = 0;
    double logarithm = 0;
  };

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
  // The states are the places of a character in a word, B, M, E, and S for a word of its own;
  // behind that a state may have a part of speech.
  size_t states() const { return state_names_.size(); }
  char PlaceOf(size_t state) const { return state_names_[state][0]; }
  double start(size_t state) const { return start_[state]; }
  double transition(size_t from, size_t to) const { return transitions_[from * states() + to]; }
  // Returns the states that a character may have; none if it is not known.
  std::span<const State> Emissions(std::string_view character) const;

  // The logarithm of what never happens.
  static constexpr double kNever = -3.14e100;

 private:
  ChineseLexicon() = default;
  absl::Status Parse(const std::filesystem::path& path);
  // Returns states() if there is none of that name.
  size_t FindState(std::string_view name) const;
  bool ParseLine(std::string_view section, size_t begin, std::string_view line);
  std::string_view LineAt(size_t begin) const;
  // Returns the index of the first word that is not less.
  size_t LowerBound(std::string_view word) const;

  std::vector<char> text_;  // views into it stay valid when the lexicon moves
  std::vector<uint32_t> words_;
  absl::flat_hash_map<std::string_view, std::string_view> syllables_;
  std::vector<std::string_view> state_names_;
  std::vector<double> start_;
  std::vector<double> transitions_;  // from each state to each
  absl::flat_hash_map<std::string_view, std::vector<State>> emissions_;
  double total_ = 0;
  bool marks_spoken_tones_ = false;
};

}  // namespace millrace::models
