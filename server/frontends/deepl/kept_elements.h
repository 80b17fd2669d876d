#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace::server {

// The elements that a request names in ignore_tags, which stay as they are. Texts are translated
// with a short element in the place of each, which the reader of HTML keeps within its sentence.
// One thread at a time.
class KeptElements {
 public:
  // tags: names of elements; case does not matter.
  explicit KeptElements(std::vector<std::string> tags);

  // Returns the text with its elements out of the way. Linear time but for elements that contain
  // others of their name.
  std::string Hide(std::string_view text);
  // Returns the translation of such a text with its elements back in their places.
  std::string Show(std::string_view text) const;

 private:
  bool IsKept(std::string_view name) const;

  std::vector<std::string> tags_;
  std::vector<std::string> elements_;
};

}  // namespace millrace::server
