// Looks for files that reading and writing with translations damages. The first byte says what the
// rest is: a file of a kind, or the XML in one.
//
// usage: documents_fuzz [-max_total_time=60] tests/fuzz/seeds/documents

#include <zip.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/documents/document.h"
#include "tests/fuzz/require.h"

namespace millrace::server {
namespace {

constexpr DocumentLimits kLimits = {.file_bytes = 64 << 10, .xml_bytes = 64 << 10};

// Returns a zip archive with one entry, and an empty one.
std::string Packed(const char* name, std::string_view content, const char* empty = nullptr) {
  zip_source_t* source = zip_source_buffer_create(nullptr, 0, 0, nullptr);
  zip_source_keep(source);
  zip_t* archive = zip_open_from_source(source, ZIP_TRUNCATE, nullptr);
  zip_source_t* entry = zip_source_buffer(archive, content.data(), content.size(), 0);
  const zip_int64_t index = zip_file_add(archive, name, entry, 0);
  Require(index == 0, "no entry");
  zip_set_file_compression(archive, 0, ZIP_CM_STORE, 0);
  if (empty != nullptr)
    zip_file_add(archive, empty, zip_source_buffer(archive, nullptr, 0, 0), ZIP_FL_ENC_UTF_8);
  Require(zip_close(archive) == 0, "no archive");
  zip_source_open(source);
  zip_stat_t all;
  zip_source_stat(source, &all);
  std::string bytes(all.size, '\0');
  zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  zip_source_free(source);
  return bytes;
}

using Translator = std::function<std::string(const std::string&)>;

void Try(std::string_view name, const std::string& bytes, const Translator& translate,
         bool same_texts) {
  auto document = OpenDocument(name, bytes, kLimits);
  if (!document.ok()) return;
  std::vector<std::string> translations;
  for (const std::string& text : (*document)->texts()) {
    Require(!text.empty(), "an empty text");
    translations.push_back(translate(text));
  }
  const size_t texts = translations.size();
  const absl::StatusOr<std::string> rendered = (*document)->Render(std::move(translations));
  // An archive may be damaged in an entry that is not read, and a chapter of a book is sent only as
  // valid XML, which translations that are none of its markup are not.
  if (!rendered.ok()) {
    return Require(absl::IsInvalidArgument(rendered.status()) || name == "a.epub", "not rendered");
  }
  if (!same_texts) return;
  auto again = OpenDocument(name, *rendered, {});
  Require(again.ok(), "a translation that cannot be read");
  // In subtitles, a line that is broken elsewhere may look as if another sentence began, and what
  // is filled in of a catalogue is not to be translated any more.
  const bool keeps_number =
      name != "a.srt" && name != "a.vtt" && name != "a.po" && name != "a.xliff";
  Require(!keeps_number || (*again)->texts().size() == texts, "another number of texts");
}

void TryAll(std::string_view name, const std::string& bytes) {
  Try(
      name, bytes, [](const std::string& text) { return text; }, true);
  Try(
      name, bytes, [](const std::string&) { return ""; }, false);
  Try(
      name, bytes, [](const std::string&) { return "<g0>a <x1/><g1>b</g0> &lt;</g1>\n"; }, false);
  // Tags in another order.
  Try(
      name, bytes,
      [](const std::string& text) {
        const size_t middle = text.find('<', text.size() / 2);
        return middle == std::string::npos ? text : text.substr(middle) + text.substr(0, middle);
      },
      false);
}

}  // namespace
}  // namespace millrace::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using millrace::server::Packed;
  using millrace::server::TryAll;
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 't':
      TryAll("a.txt", bytes);
      break;
    case 's':
      TryAll("a.srt", bytes);
      break;
    case 'v':
      TryAll("a.vtt", bytes);
      break;
    case 'd':
      TryAll("a.docx", bytes);
      break;
    case 'o':
      TryAll("a.odt", bytes);
      break;
    case 'j':
      TryAll("a.json", bytes);
      break;
    case 'p':
      TryAll("a.po", bytes);
      break;
    case 'x':
      TryAll("a.xliff", bytes);
      break;
    case 'P':
      TryAll("a.pptx", Packed("ppt/slides/slide1.xml", bytes, "ppt/presentation.xml"));
      break;
    case 'E':
      TryAll("a.epub", Packed("META-INF/container.xml", bytes));
      break;
    case 'D':
      TryAll("a.docx", Packed("word/document.xml", bytes));
      break;
    case 'O':
      TryAll("a.odt", Packed("content.xml", bytes));
      break;
    default:
      break;
  }
  return 0;
}
