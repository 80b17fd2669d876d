#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/documents/document.h"

namespace millrace::server {

// A text file that holds texts as values between bytes that stay as they are.
class ValueDocument final : public Document {
 public:
  // Writes a translation as the file's syntax has a value.
  using Writer = std::function<std::string(std::string_view translation)>;

  ValueDocument(Writer write, const DocumentLimits& limits)
      : write_(std::move(write)), limits_(limits) {}

  // Appends bytes that stay.
  void Keep(std::string_view bytes);
  // Appends a value that is written as `source` now; a text that comes back unchanged keeps it.
  // write: for this value, instead of that of the document.
  void Add(std::string text, std::string_view source, Writer write = nullptr);
  // Returns true once the texts are beyond the limits. Nothing more is kept then.
  bool is_full() const { return is_full_; }

  std::span<const std::string> texts() const override { return texts_; }
  models::TextFormat format() const override { return models::TextFormat::kText; }
  absl::StatusOr<std::string> Render(std::vector<std::string> translations) override;

 private:
  const Writer write_;
  const DocumentLimits limits_;
  std::vector<std::string> texts_;
  std::vector<std::string> sources_;  // The spelling of each text in the file.
  std::vector<Writer> writers_;       // a writer for each text; empty: the document's
  std::vector<std::string> before_;   // the bytes before each text
  std::string after_;                 // the bytes behind the last text
  size_t text_bytes_ = 0;
  bool is_full_ = false;
};

}  // namespace millrace::server
