#include "server/documents/document.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/core/too_long.h"
#include "models/core/utf8.h"
#include "models/text/unicode.h"
#include "server/documents/document_readers.h"

namespace millrace::server {
namespace {

constexpr DocumentType kTypes[] = {
    {".txt", "text/plain; charset=utf-8", ReadPlainText},
    {".html", "text/html; charset=utf-8", ReadHtmlText},
    {".md", "text/markdown; charset=utf-8", ReadMarkdownText},
    {".srt", "application/x-subrip", ReadSrt},
    {".vtt", "text/vtt; charset=utf-8", ReadWebVtt},
    {".ass", "text/x-ssa; charset=utf-8", ReadAss},
    {".ssa", "text/x-ssa; charset=utf-8", ReadAss},
    {".sub", "text/x-microdvd; charset=utf-8", ReadMicroDvd},
    {".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ReadDocx},
    {".pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation",
     ReadPptx},
    {".odt", "application/vnd.oasis.opendocument.text", ReadOdt},
    {".odp", "application/vnd.oasis.opendocument.presentation", ReadOdp},
    {".epub", "application/epub+zip", ReadEpub},
    {".json", "application/json", ReadJson},
    {".po", "text/x-gettext-translation; charset=utf-8", ReadPo},
    {".xliff", "application/xliff+xml", ReadXliff},
    {".xlf", "application/xliff+xml", ReadXliff},
};

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
      return InvalidArgument("file: has a NUL character in its text");
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
    return InvalidArgument("file: the name '", Shown(file_name),
                           "' ends with no extension that is supported; these are: ", allowed);
  }
  if (bytes.size() > limits.file_bytes) {
    return TooLongError(
        StrCat("file: has ", bytes.size(), " bytes; at most ", limits.file_bytes, " are allowed"));
  }
  MILLRACE_ASSIGN_OR_RETURN(auto document, type->read(std::move(bytes), limits, target_language));
  MILLRACE_RETURN_IF_ERROR(CheckTexts(document->texts(), limits));
  return document;
}

}  // namespace millrace::server
