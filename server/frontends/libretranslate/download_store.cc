#include "server/frontends/libretranslate/download_store.h"

#include <openssl/rand.h>

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/escaping.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

std::string RandomName() {
  std::string bytes(16, '\0');
  // It fails for want of entropy or of memory, like an allocation.
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) !=
      1)
    throw std::bad_alloc();
  return absl::BytesToHexString(bytes);
}

}  // namespace

std::string DownloadStore::Add(Download file, std::string_view extension) {
  std::string name = RandomName() + std::string(extension);
  const MutexLock lock(mu_);
  DropOld();
  while (!entries_.empty() &&
         (entries_.size() >= limits_.files || bytes_ + file.bytes.size() > limits_.bytes))
    DropFirst();
  bytes_ += file.bytes.size();
  entries_.push_back(
      {name, clock_.Now() + limits_.time, std::make_shared<const Download>(std::move(file))});
  return name;
}

std::shared_ptr<const Download> DownloadStore::Find(std::string_view name) {
  const MutexLock lock(mu_);
  DropOld();
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  return found == entries_.end() ? nullptr : found->file;
}

void DownloadStore::DropFirst() {
  bytes_ -= entries_.front().file->bytes.size();
  entries_.pop_front();
}

void DownloadStore::DropOld() {
  while (!entries_.empty() && entries_.front().end <= clock_.Now()) DropFirst();
}

}  // namespace millrace::server
