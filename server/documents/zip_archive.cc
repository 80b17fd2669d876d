#include "server/documents/zip_archive.h"

#include <zip.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "models/core/errors.h"

namespace millrace::server {
namespace {

absl::Status Damaged(std::string_view name, std::string_view what) {
  return InvalidArgument("file: the entry '", name, "' of the zip archive cannot be read: ", what);
}

absl::Status CheckEntries(zip_t* archive, size_t file_bytes, const DocumentLimits& limits) {
  const zip_int64_t entries = zip_get_num_entries(archive, 0);
  if (entries > static_cast<zip_int64_t>(limits.entries)) {
    return InvalidArgument("file: the zip archive has ", entries, " entries; at most ",
                           limits.entries, " are allowed");
  }
  const uint64_t allowed = std::min<uint64_t>(limits.unpacked_bytes, file_bytes * limits.ratio);
  uint64_t unpacked = 0;
  for (zip_int64_t i = 0; i < entries; ++i) {
    zip_stat_t entry;
    constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(archive, static_cast<zip_uint64_t>(i), 0, &entry) != 0 ||
        (entry.valid & kNeeded) != kNeeded)
      return InvalidArgument("file: the zip archive is damaged");
    if (entry.encryption_method != ZIP_EM_NONE)
      return InvalidArgument("file: is an encrypted zip archive");
    // A sum of such sizes does not overflow, because each is checked.
    if (entry.size > allowed || (unpacked += entry.size) > allowed) {
      return InvalidArgument("file: the zip archive unpacks to more than ", allowed,
                             " bytes, which are the ", "most for an archive of ", file_bytes,
                             " bytes");
    }
  }
  return absl::OkStatus();
}

}  // namespace

struct ZipArchive::Handles {
  ~Handles() {
    if (archive != nullptr) zip_discard(archive);
    if (source != nullptr) zip_source_free(source);
  }

  zip_source_t* source = nullptr;
  zip_t* archive = nullptr;  // owns a reference to the source
};

ZipArchive::ZipArchive(std::unique_ptr<Handles> handles) : handles_(std::move(handles)) {}

ZipArchive::~ZipArchive() = default;

absl::StatusOr<std::unique_ptr<ZipArchive>> ZipArchive::Open(std::string bytes,
                                                             const DocumentLimits& limits) {
  // libzip takes no bytes for an archive without entries.
  if (bytes.empty()) return InvalidArgument("file: is empty");
  std::unique_ptr<ZipArchive> zip(new ZipArchive(std::make_unique<Handles>()));
  Handles& handles = *zip->handles_;
  // libzip has to own the bytes: where it shares the entries at the beginning with the archive that
  // it writes, it frees them, whatever it was told.
  void* const held = std::malloc(bytes.size());
  if (held == nullptr) throw std::bad_alloc();
  std::memcpy(held, bytes.data(), bytes.size());
  zip_error_t error;
  zip_error_init(&error);
  handles.source = zip_source_buffer_create(held, bytes.size(), /*freep=*/1, &error);
  if (handles.source == nullptr) {
    std::free(held);
  } else {
    zip_source_keep(handles.source);
    handles.archive = zip_open_from_source(handles.source, 0, &error);
    if (handles.archive == nullptr) zip_source_free(handles.source);
  }
  // Office programs keep encrypted documents in the container of their old formats.
  if (constexpr std::string_view kContainer = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";
      handles.archive == nullptr && bytes.starts_with(kContainer)) {
    zip_error_fini(&error);
    return InvalidArgument(
        "file: is encrypted, or of a format before Office 2007; save it without a password, in the "
        "format that its extension names");
  }
  const bool opened = handles.archive != nullptr;
  const std::string why = opened ? "" : zip_error_strerror(&error);
  zip_error_fini(&error);
  if (!opened) {
    return InvalidArgument(
        "file: is not a zip archive, as a document with this extension is, or a damaged one: ",
        why);
  }
  MILLRACE_RETURN_IF_ERROR(CheckEntries(handles.archive, bytes.size(), limits));
  return zip;
}

std::vector<std::string> ZipArchive::Names() const {
  std::vector<std::string> names;
  const zip_int64_t entries = zip_get_num_entries(handles_->archive, 0);
  for (zip_int64_t i = 0; i < entries; ++i) {
    const char* name = zip_get_name(handles_->archive, static_cast<zip_uint64_t>(i), 0);
    names.emplace_back(name != nullptr ? name : "");
  }
  return names;
}

absl::StatusOr<std::string> ZipArchive::Read(std::string_view name, size_t max_bytes) {
  zip_file_t* file = zip_fopen(handles_->archive, std::string(name).c_str(), 0);
  if (file == nullptr) return Damaged(name, zip_strerror(handles_->archive));
  std::string content;
  zip_int64_t read = 0;
  do {
    constexpr size_t kPiece = size_t{64} << 10;
    const size_t old = content.size();
    content.resize(old + kPiece);
    read = zip_fread(file, content.data() + old, kPiece);
    content.resize(old + static_cast<size_t>(std::max<zip_int64_t>(read, 0)));
  } while (read > 0 && content.size() <= max_bytes);
  const std::string why = read < 0 ? zip_file_strerror(file) : "";
  zip_fclose(file);
  if (read < 0) return Damaged(name, why);
  if (content.size() <= max_bytes) return content;
  return InvalidArgument("file: the entry '", name, "' of the zip archive unpacks to more than ",
                         max_bytes, " bytes, which are the most for the text");
}

absl::Status ZipArchive::CheckEncryption(std::string_view part, std::string_view element,
                                         size_t max_bytes) {
  const absl::StatusOr<std::string> content = Read(part, max_bytes);
  if (!content.ok() || content->find(element) == std::string::npos) return absl::OkStatus();
  return InvalidArgument("file: is encrypted; remove its password or protection first");
}

absl::Status ZipArchive::Replace(std::string_view name, std::string content) {
  zip_t* archive = handles_->archive;
  const zip_int64_t index = zip_name_locate(archive, std::string(name).c_str(), 0);
  zip_stat_t entry;
  if (index < 0 || zip_stat_index(archive, static_cast<zip_uint64_t>(index), 0, &entry) != 0)
    return Damaged(name, zip_strerror(archive));
  // The archive reads the content when it is finished.
  contents_.push_back(std::move(content));
  zip_source_t* source =
      zip_source_buffer(archive, contents_.back().data(), contents_.back().size(), /*freep=*/0);
  if (source == nullptr ||
      zip_file_replace(archive, static_cast<zip_uint64_t>(index), source, 0) < 0) {
    zip_source_free(source);
    return Damaged(name, zip_strerror(archive));
  }
  if ((entry.valid & ZIP_STAT_MTIME) != 0)
    zip_file_set_mtime(archive, static_cast<zip_uint64_t>(index), entry.mtime, 0);
  return absl::OkStatus();
}

absl::StatusOr<std::string> ZipArchive::Finish() {
  if (contents_.empty()) {
    zip_discard(handles_->archive);
  } else if (zip_close(handles_->archive) != 0) {
    return InvalidArgument("file: the zip archive cannot be written again: ",
                           zip_strerror(handles_->archive));
  }
  handles_->archive = nullptr;
  zip_source_t* source = handles_->source;
  zip_stat_t all;
  if (zip_source_stat(source, &all) != 0 || zip_source_open(source) != 0)
    return Internal("the zip archive that was written cannot be read");
  std::string out(all.size, '\0');
  const zip_int64_t read = zip_source_read(source, out.data(), out.size());
  zip_source_close(source);
  if (read != static_cast<zip_int64_t>(out.size()))
    return Internal("the zip archive that was written cannot be read");
  return out;
}

}  // namespace millrace::server
