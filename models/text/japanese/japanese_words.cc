#include "models/text/japanese/japanese_words.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "models/core/errors.h"
#include "models/text/unicode.h"

namespace millrace::models {

absl::StatusOr<JapaneseWords> JapaneseWords::Open(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound(path.string(), ": cannot be read");
  JapaneseWords words;
  words.text_.assign(std::istreambuf_iterator<char>(file), {});
  if (words.text_.size() > UINT32_MAX || !IsValidUtf8(words.text_))
    return DataLoss(path.string(), ": is not a list of words in UTF-8");
  std::string_view before;
  for (size_t at = 0; at < words.text_.size();) {
    const size_t end = std::min(words.text_.find('\n', at), words.text_.size());
    const std::string_view word = std::string_view(words.text_).substr(at, end - at);
    if (word <= before) {
      return DataLoss(path.string(), ": line ", words.begins_.size() + 1,
                      " is not behind the line before it in order");
    }
    words.begins_.push_back(static_cast<uint32_t>(at));
    words.longest_ = std::max(words.longest_, word.size());
    before = word;
    at = end + 1;
  }
  return words;
}

std::string_view JapaneseWords::LineAt(size_t begin) const {
  return std::string_view(text_).substr(begin,
                                        std::min(text_.find('\n', begin), text_.size()) - begin);
}

bool JapaneseWords::Contains(std::string_view word) const {
  const auto at = std::partition_point(begins_.begin(), begins_.end(),
                                       [&](uint32_t begin) { return LineAt(begin) < word; });
  return at != begins_.end() && LineAt(*at) == word;
}

}  // namespace millrace::models
