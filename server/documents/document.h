#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/payload.h"

namespace millrace::server {

// The bounds of a document. Each that is exceeded is an error that names it.
struct DocumentLimits {
  size_t file_bytes = size_t{10} << 20;
  size_t texts = 10'000;
  size_t characters = 100'000;  // the sum of all texts, with their markup
  // The bounds of a document that is a zip archive.
  size_t entries = 4'096;
  size_t unpacked_bytes = size_t{128} << 20;  // the sum of all entries
  size_t ratio = 200;                         // unpacked bytes of all entries to those of the file
  size_t xml_bytes = size_t{4} << 20;         // the sum of all parts that are read
  size_t xml_depth = 256;
};

// A file whose texts are to be translated. It knows how the file is laid out, and knows nothing of
// models. One thread at a time.
class Document {
 public:
  virtual ~Document() = default;

  // The texts to translate, in reading order. None is empty; there may be none.
  virtual std::span<const std::string> texts() const = 0;
  // Their format.
  virtual models::TextFormat format() const = 0;
  // Returns the file with the translations, one for each text in the same order, in place of the
  // texts. Called at most once.
  virtual absl::StatusOr<std::string> Render(std::vector<std::string> translations) = 0;
};

// Reads a file of one kind, whose size is within the bounds. target_language: as in OpenDocument;
// readers of files that do not name their language ignore it.
using DocumentReader = absl::StatusOr<std::unique_ptr<Document>>(std::string bytes,
                                                                 const DocumentLimits& limits,
                                                                 std::string_view target_language);

// A kind of files.
struct DocumentType {
  std::string_view extension;  // with its dot, in small letters
  std::string_view media_type;
  DocumentReader* read;
};

// Returns the kinds of files that can be translated.
std::span<const DocumentType> DocumentTypes();
// Returns the kind that a file's name ends with, in any case; nullptr: none.
const DocumentType* FindDocumentType(std::string_view file_name);

// Reads a file. InvalidArgument says what is wrong with it, and begins with "file: ".
// target_language: what a file that names its language is to say; empty: it stays as it is.
absl::StatusOr<std::unique_ptr<Document>> OpenDocument(std::string_view file_name,
                                                       std::string bytes,
                                                       const DocumentLimits& limits,
                                                       std::string_view target_language = {});

}  // namespace millrace::server
