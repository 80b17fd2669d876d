#include "server/documents/document.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "models/core/strings.h"
#include "models/core/too_long.h"
#include "models/core/utf8.h"
#include "models/text/unicode.h"
#include "server/documents/epub_document.h"
#include "server/documents/json_document.h"
#include "server/documents/office_document.h"
#include "server/documents/po_document.h"
#include "server/documents/subtitles.h"
#include "server/documents/text_document.h"
#include "server/documents/xliff_document.h"

namespace millrace::server {
namespace {

using Opened = absl::StatusOr<std::unique_ptr<Document>>;
using Reader = Opened (*)(std::string bytes, const DocumentLimits& limits,
                          std::string_view target_language);

// Makes a reader of one for files that do not name their language.
template <Opened (*Read)(std::string, const DocumentLimits&)>
Opened ReadUnnamed(std::string bytes, const DocumentLimits& limits, std::string_view /*language*/) {
  return Read(std::move(bytes), limits);
}

constexpr size_t kKinds = 14;
constexpr std::array<DocumentType, kKinds> kTypes = {{
    {".txt", "text/plain; charset=utf-8"},
    {".html", "text/html; charset=utf-8"},
    {".md", "text/markdown; charset=utf-8"},
    {".srt", "application/x-subrip"},
    {".vtt", "text/vtt; charset=utf-8"},
    {".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {".pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {".odt", "application/vnd.oasis.opendocument.text"},
    {".odp", "application/vnd.oasis.opendocument.presentation"},
    {".epub", "application/epub+zip"},
    {".json", "application/json"},
    {".po", "text/x-gettext-translation; charset=utf-8"},
    {".xliff", "application/xliff+xml"},
    {".xlf", "application/xliff+xml"},
}};
constexpr std::array<Reader, kKinds> kReaders = {ReadUnnamed<ReadPlainText>,
                                                 ReadUnnamed<ReadHtmlText>,
                                                 ReadUnnamed<ReadMarkdownText>,
                                                 ReadUnnamed<ReadSrt>,
                                                 ReadUnnamed<ReadWebVtt>,
                                                 ReadUnnamed<ReadDocx>,
                                                 ReadUnnamed<ReadPptx>,
                                                 ReadUnnamed<ReadOdt>,
                                                 ReadUnnamed<ReadOdp>,
                                                 ReadUnnamed<ReadEpub>,
                                                 ReadUnnamed<ReadJson>,
                                                 ReadPo,
                                                 ReadXliff,
                                                 ReadXliff};

// Returns a name as messages show it.
std::string_view Shown(std::string_view name) {
  size_t bytes = std::min<size_t>(name.size(), 64);
  while (bytes < name.size() && bytes > 0 && IsContinuationByte(name[bytes])) --bytes;
  return name.substr(0, bytes);
}

absl::Status CheckTexts(std::span<const std::string> texts, const DocumentLimits& limits) {
  if (texts.size() > limits.texts) {
    return TooLongError(StrCat("file: has ", texts.size(), " paragraphs, cues or values; at most ",
                               limits.texts, " are allowed"));
  }
  size_t characters = 0;
  for (const std::string& text : texts) {
    if (text.find('\0') != std::string::npos)
      return absl::InvalidArgumentError("file: has a NUL character in its text");
    characters += models::CountCodePoints(text);
  }
  if (characters <= limits.characters) return absl::OkStatus();
  return TooLongError(StrCat("file: has ", characters, " characters of text and markup; at most ",
                             limits.characters, " are allowed"));
}

}  // namespace

std::span<const DocumentType> DocumentTypes() { return kTypes; }

const DocumentType* FindDocumentType(std::string_view file_name) {
  for (const DocumentType& type : kTypes) {
    if (absl::EndsWithIgnoreCase(View(file_name), View(type.extension))) return &type;
  }
  return nullptr;
}

absl::StatusOr<std::unique_ptr<Document>> OpenDocument(std::string_view file_name,
                                                       std::string bytes,
                                                       const DocumentLimits& limits,
                                                       std::string_view target_language) {
  const DocumentType* type = FindDocumentType(file_name);
  if (type == nullptr) {
    std::string allowed;
    for (const DocumentType& known : kTypes)
      absl::StrAppend(&allowed, allowed.empty() ? "" : ", ", View(known.extension));
    return absl::InvalidArgumentError(
        StrCat("file: the name '", Shown(file_name),
               "' ends with no extension that is supported; these are: ", allowed));
  }
  if (bytes.size() > limits.file_bytes) {
    return TooLongError(
        StrCat("file: has ", bytes.size(), " bytes; at most ", limits.file_bytes, " are allowed"));
  }
  auto document = kReaders[static_cast<size_t>(type - kTypes.data())](std::move(bytes), limits,
                                                                      target_language);
  if (!document.ok()) return document.status();
  if (absl::Status status = CheckTexts((*document)->texts(), limits); !status.ok()) return status;
  return document;
}

}  // namespace millrace::server
