#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace::server {

// The elements that a request names in non_splitting_tags, which stand within sentences. In the
// texts that are translated they have names that the reader of HTML knows to do so. One thread at a
// time.
class InlineElements {
 public:
  explicit InlineElements(std::vector<std::string> tags) : tags_(std::move(tags)) {}

  // Renames the elements in texts; called once.
  void Hide(std::vector<std::string>& texts);
  // Returns the translation of such a text with the names that its elements had.
  std::string Show(std::string_view text) const;

 private:
  std::vector<std::string> tags_;
  std::vector<std::string> names_;  // a name for each tag in the texts that are translated
};

}  // namespace millrace::server
