#pragma once

#include <gtest/gtest.h>
#include <zip.h>

#include <string>
#include <utility>
#include <vector>

namespace millrace::server {

// The entries of a zip archive: names and contents, in order.
using ZipEntries = std::vector<std::pair<std::string, std::string>>;

// Packs entries. The first one is stored, as an OpenDocument file has its mimetype.
inline std::string Packed(const ZipEntries& entries, zip_uint16_t encryption = ZIP_EM_NONE) {
  zip_error_t error;
  zip_source_t* source = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_source_keep(source);
  zip_t* archive = zip_open_from_source(source, ZIP_TRUNCATE, &error);
  for (const auto& [name, content] : entries) {
    zip_source_t* entry = zip_source_buffer(archive, content.data(), content.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), entry, ZIP_FL_ENC_UTF_8);
    EXPECT_GE(index, 0) << name;
    const auto at = static_cast<zip_uint64_t>(index);
    if (index == 0) zip_set_file_compression(archive, at, ZIP_CM_STORE, 0);
    if (encryption != ZIP_EM_NONE) zip_file_set_encryption(archive, at, encryption, "secret");
  }
  EXPECT_EQ(zip_close(archive), 0) << zip_strerror(archive);
  zip_source_open(source);
  zip_stat_t all;
  zip_source_stat(source, &all);
  std::string bytes(all.size, '\0');
  zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  zip_source_free(source);
  return bytes;
}

// Unpacks all entries. `flags` may be ZIP_FL_COMPRESSED, for their bytes as they are packed.
inline ZipEntries Unpacked(const std::string& bytes, zip_flags_t flags = 0) {
  zip_error_t error;
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  zip_t* archive = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (archive == nullptr) {
    ADD_FAILURE() << "not a zip archive: " << bytes.substr(0, 200);
    return {};
  }
  ZipEntries entries;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive, 0); ++i) {
    const auto at = static_cast<zip_uint64_t>(i);
    zip_stat_t entry;
    zip_stat_index(archive, at, 0, &entry);
    std::string content(flags == 0 ? entry.size : entry.comp_size, '\0');
    zip_file_t* file = zip_fopen_index(archive, at, flags);
    zip_fread(file, content.data(), content.size());
    zip_fclose(file);
    entries.emplace_back(zip_get_name(archive, at, 0), std::move(content));
  }
  zip_discard(archive);
  return entries;
}

// The content of an entry.
inline std::string EntryOf(const std::string& bytes, const std::string& name) {
  for (auto& [entry, content] : Unpacked(bytes)) {
    if (entry == name) return content;
  }
  return "no entry " + name;
}

}  // namespace millrace::server
