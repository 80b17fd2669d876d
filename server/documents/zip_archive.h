#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/documents/document.h"

namespace millrace::server {

// A zip archive in memory. Entries that are not replaced stay byte for byte, packed as they are, in
// the same order. One thread at a time.
//
// Its errors are InvalidArgument and begin with "file: ".
class ZipArchive {
 public:
  // Refuses what is no archive, is encrypted, or unpacks to more than the limits allow by what it
  // says of itself.
  static absl::StatusOr<std::unique_ptr<ZipArchive>> Open(std::string bytes,
                                                          const DocumentLimits& limits);
  ~ZipArchive();
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  // Returns the names of all entries, in order.
  std::vector<std::string> Names() const;
  // Unpacks an entry. Refuses one of more than `max_bytes`, whatever the archive says of its size.
  absl::StatusOr<std::string> Read(std::string_view name, size_t max_bytes);
  // Refuses an archive with a part that names an encrypted entry by this element; one without the
  // part names none.
  absl::Status CheckEncryption(std::string_view part, std::string_view element, size_t max_bytes);
  // Replaces an entry, which must exist.
  absl::Status Replace(std::string_view name, std::string content);
  // Returns the archive's bytes. Nothing else may be called after it.
  absl::StatusOr<std::string> Finish();

 private:
  struct Handles;

  explicit ZipArchive(std::unique_ptr<Handles> handles);

  std::deque<std::string> contents_;  // the handles read it
  std::unique_ptr<Handles> handles_;
};

}  // namespace millrace::server
