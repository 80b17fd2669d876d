#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

// Tables of words in texts that are embedded in the program (cmake/EmbedText.cmake): a line is a
// row, its fields have a tab between them, and lines that begin with "# " are comments.
namespace millrace::models {

template <size_t kFields>
using TableRow = std::array<std::string_view, kFields>;

// Returns the rows in their order. Fields that are missing at the end of a line are empty.
template <size_t kFields>
std::vector<TableRow<kFields>> ReadTable(std::string_view text) {
  std::vector<TableRow<kFields>> rows;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty() || line.starts_with("# ")) continue;
    for (std::string_view& field : rows.emplace_back()) {
      field = line.substr(0, line.find('\t'));
      line.remove_prefix(std::min(field.size() + 1, line.size()));
    }
  }
  return rows;
}

// Calls take(word) for each word between spaces and line breaks.
template <typename Take>
void ForEachWord(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    if (!word.empty()) take(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
}

// Rows by their first field. Thread-safe.
template <size_t kFields>
class WordTable {
 public:
  // The text must outlive it.
  explicit WordTable(std::string_view text) : rows_(ReadTable<kFields>(text)) {
    std::ranges::stable_sort(rows_, {}, &Word);
    for (const auto& row : rows_) kinds_.set(KindOf(Word(row)));
  }

  // Returns the rows of a word in the order of the text.
  std::span<const TableRow<kFields>> FindAll(std::string_view word) const {
    if (!kinds_[KindOf(word)]) return {};
    // The subrange that equal_range returns does not compile with clang 14.
    return {std::ranges::lower_bound(rows_, word, {}, &Word),
            std::ranges::upper_bound(rows_, word, {}, &Word)};
  }
  // Returns the first of them, null if there is none.
  const TableRow<kFields>* Find(std::string_view word) const {
    const auto all = FindAll(word);
    return all.empty() ? nullptr : &all.front();
  }

 private:
  static std::string_view Word(const TableRow<kFields>& row) { return row.front(); }

  // Sorts most words that have no row out without a search: by their ends and their length.
  static size_t KindOf(std::string_view word) {
    if (word.empty()) return 0;
    const auto first = static_cast<unsigned char>(word.front());
    const auto last = static_cast<unsigned char>(word.back());
    return (first * 37U + last * 5U + word.size() * 151U) % kKinds;
  }

  static constexpr size_t kKinds = 4096;

  std::vector<TableRow<kFields>> rows_;
  std::bitset<kKinds> kinds_;
};

}  // namespace millrace::models
