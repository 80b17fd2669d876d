#include "server/documents/text_document.h"

#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "models/text/unicode.h"
#include "server/documents/document_readers.h"
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
  WrappedLines lines_;  // the lines of plain text
  std::vector<std::string> texts_;
};

absl::StatusOr<std::unique_ptr<Document>> ReadText(std::string bytes, models::TextFormat format) {
  MILLRACE_ASSIGN_OR_RETURN(std::string mark, TakeByteOrderMark(bytes));
  return std::make_unique<TextDocument>(std::move(mark), std::move(bytes), format);
}

std::string FromUtf16(std::string_view bytes, bool big_endian) {
  std::string text;
  const auto unit_at = [&](size_t at) {
    const auto first = static_cast<unsigned char>(bytes[at]);
    const auto second = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<char32_t>(big_endian ? first << 8 | second : second << 8 | first);
  };
  for (size_t at = 0; at + 1 < bytes.size(); at += 2) {
    char32_t c = unit_at(at);
    if (c >= 0xD800 && c < 0xDC00 && at + 3 < bytes.size()) {
      const char32_t low = unit_at(at += 2);
      c = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00) : 0xFFFD;
    } else if (c >= 0xD800 && c < 0xE000) {
      c = 0xFFFD;
    }
    text += models::EncodeUtf8(c);
  }
  return text;
}

}  // namespace

std::string FromWindows1252(std::string_view bytes) {
  // The characters 0x80 to 0x9F; the other bytes are their own code points.
  constexpr std::u32string_view kHigh =
      U"\u20AC\uFFFD\u201A\u0192\u201E\u2026\u2020\u2021\u02C6\u2030\u0160\u2039\u0152\uFFFD\u017D"
      U"\uFFFD"
      U"\uFFFD\u2018\u2019\u201C\u201D\u2022\u2013\u2014\u02DC\u2122\u0161\u203A\u0153\uFFFD\u017E"
      U"\u0178";
  std::string text;
  for (const char byte : bytes) {
    const auto c = static_cast<unsigned char>(byte);
    text += models::EncodeUtf8(c >= 0x80 && c < 0xA0 ? kHigh[c - 0x80] : c);
  }
  return text;
}

void TurnIntoUtf8(std::string& text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    text = FromUtf16(text, text[0] == '\xFE');
  } else if (!models::IsValidUtf8(text) && text.find('\0') == std::string::npos) {
    text = FromWindows1252(text);
  }
}

absl::StatusOr<std::string> TakeByteOrderMark(std::string& text) {
  if (!models::IsValidUtf8(text)) {
    return InvalidArgument(
        "file: is not valid UTF-8; text in another encoding has to be converted first");
  }
  if (!text.starts_with(kByteOrderMark)) return std::string();
  text.erase(0, kByteOrderMark.size());
  return std::string(kByteOrderMark);
}

absl::StatusOr<std::unique_ptr<Document>> ReadPlainText(std::string bytes, const DocumentLimits&,
                                                        std::string_view) {
  return ReadText(std::move(bytes), models::TextFormat::kText);
}

absl::StatusOr<std::unique_ptr<Document>> ReadMarkdownText(std::string bytes, const DocumentLimits&,
                                                           std::string_view) {
  return ReadText(std::move(bytes), models::TextFormat::kMarkdown);
}

absl::StatusOr<std::unique_ptr<Document>> ReadHtmlText(std::string bytes, const DocumentLimits&,
                                                       std::string_view) {
  return ReadText(std::move(bytes), models::TextFormat::kHtml);
}

}  // namespace millrace::server
