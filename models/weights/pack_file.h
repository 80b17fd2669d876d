#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "models/kernels/pack_store.h"
#include "mps_runtime/base/file.h"

namespace millrace::models {

// Keeps the packed weights of one model in a file, which processes map read-only and so share. What
// cannot be read or written is told to the log, and the model is packed without it.
//
// The file has all arrays one after another, an index of them, the key and a checksum of all. It
// appears whole: it is written under another name, and one process at a time does so. It must not
// be changed in place while it is mapped; it may be removed. Used by one thread; arrays may outlive
// it.
class PackFile final : public kernels::PackStore {
 public:
  // Opens the file. If it has another key or is damaged it is replaced; a file that is none of
  // packed weights is left alone. key: all that the arrays depend on.
  PackFile(std::filesystem::path path, std::string key);
  // Gives up what was not committed.
  ~PackFile() override;

  Array Next() override;
  void Reject() override;
  std::shared_ptr<const void> Keep(const void* data, size_t bytes) override;

  // Gives a new file its name. Call it when everything has been packed.
  void Commit();

 private:
  struct Entry {
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };
  struct Footer;
  class Mapping;

  // Reads the file as far as it is valid. Returns false if it must not be replaced.
  bool Read();
  // Begins the new file. Returns false if there cannot be one now.
  bool BeginWriting();
  bool Write(const void* data, size_t bytes, uint64_t offset);
  // Tells why no new file is written, and gives it up.
  void GiveUp(const std::string& why);

  const std::filesystem::path path_;
  const std::filesystem::path new_path_;
  const std::string key_;
  std::vector<Entry> entries_;
  // While reading.
  std::shared_ptr<const Mapping> mapping_;
  size_t next_ = 0;
  // While writing.
  bool may_write_ = true;
  FileDescriptor file_;
  uint64_t end_ = 0;
};

}  // namespace millrace::models
