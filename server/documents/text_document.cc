#include "server/documents/text_document.h"

#include <utility>
#include <vector>

#include "models/text/unicode.h"
#include "server/documents/wrapped_lines.h"

namespace millrace::server {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

class TextDocument final : public Document {
 public:
  TextDocument(std::string mark, std::string text, models::TextFormat format)
      : mark_(std::move(mark)), format_(format) {
    if (text.empty()) return;
    if (format == models::TextFormat::kText) {
      lines_ = JoinWrappedLines(text);
      text = lines_.text;
    }
    texts_.push_back(std::move(text));
  }

  std::span<const std::string> texts() const override { return texts_; }
  models::TextFormat format() const override { return format_; }
  absl::StatusOr<std::string> Render(std::vector<std::string> translations) override {
    if (translations.empty()) return mark_;
    if (format_ != models::TextFormat::kText) return mark_ + translations.front();
    return mark_ + WrapLines(lines_, std::move(translations.front()));
  }

 private:
  const std::string mark_;
  const models::TextFormat format_;
  WrappedLines lines_;  // of plain text
  std::vector<std::string> texts_;
};

absl::StatusOr<std::unique_ptr<Document>> ReadText(std::string bytes, models::TextFormat format) {
  absl::StatusOr<std::string> mark = TakeByteOrderMark(bytes);
  if (!mark.ok()) return mark.status();
  return std::make_unique<TextDocument>(*std::move(mark), std::move(bytes), format);
}

}  // namespace

absl::StatusOr<std::string> TakeByteOrderMark(std::string& text) {
  if (!models::IsValidUtf8(text)) {
    return absl::InvalidArgumentError(
        "file: is not valid UTF-8; text in another encoding has to be converted first");
  }
  if (!text.starts_with(kByteOrderMark)) return std::string();
  text.erase(0, kByteOrderMark.size());
  return std::string(kByteOrderMark);
}

absl::StatusOr<std::unique_ptr<Document>> ReadPlainText(std::string bytes, const DocumentLimits&) {
  return ReadText(std::move(bytes), models::TextFormat::kText);
}

absl::StatusOr<std::unique_ptr<Document>> ReadHtmlText(std::string bytes, const DocumentLimits&) {
  return ReadText(std::move(bytes), models::TextFormat::kHtml);
}

absl::StatusOr<std::unique_ptr<Document>> ReadMarkdownText(std::string bytes,
                                                           const DocumentLimits&) {
  return ReadText(std::move(bytes), models::TextFormat::kMarkdown);
}

}  // namespace millrace::server
