#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace millrace::models {

// The words that are spoken without a break though the dictionary divides them, such as forms of
// verbs and compounds. Immutable, so thread-safe.
class JapaneseWords {
 public:
  // An empty list.
  JapaneseWords() = default;
  // Reads a file with a word a line, sorted by their bytes. NotFound when it cannot be read, and
  // DataLoss that names the file and the line when it is not sorted UTF-8.
  static absl::StatusOr<JapaneseWords> Open(const std::filesystem::path& path);

  // Returns true if the list has the word: a binary search.
  bool Contains(std::string_view word) const;
  size_t size() const { return begins_.size(); }
  size_t longest() const { return longest_; }  // in bytes

 private:
  std::string_view LineAt(size_t begin) const;

  std::string text_;
  std::vector<uint32_t> begins_;
  size_t longest_ = 0;
};

}  // namespace millrace::models
