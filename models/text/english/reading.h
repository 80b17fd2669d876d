#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::models {

// The words that a stretch of text is spoken as, and where it ends.
struct Reading {
  size_t end = 0;
  std::vector<std::string> words;

  void Append(std::vector<std::string> more) {
    for (std::string& word : more) words.push_back(std::move(word));
  }
  void Append(std::string_view word) { words.emplace_back(word); }
  // Appends words that are separated by single spaces.
  void AppendEach(std::string_view divided) {
    while (!divided.empty()) {
      const size_t space = std::min(divided.find(' '), divided.size());
      words.emplace_back(divided.substr(0, space));
      divided.remove_prefix(std::min(space + 1, divided.size()));
    }
  }
};

// Returns the reading as words that are separated by single spaces.
inline Reading ReadAs(size_t end, std::string_view divided) {
  Reading reading{end, {}};
  reading.AppendEach(divided);
  return reading;
}

}  // namespace millrace::models
