#include "models/weights/pack_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "models/core/regular_file.h"
#include "models/core/strings.h"
#include "mps_runtime/base/log_sink.h"

namespace millrace::models {
namespace {

constexpr std::string_view kMagic = "Millrace packs 1";
// Large arrays begin at a multiple of the pages of all processors, so that each can be mapped.
constexpr uint64_t kPage = 64 << 10;
constexpr uint64_t kLine = 64;

uint64_t RoundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

uint64_t OffsetOf(uint64_t end, size_t bytes) {
  return RoundUp(end, bytes >= kPage ? kPage : kLine);
}

std::string ErrorText() { return std::strerror(errno); }

void Warn(const std::filesystem::path& path, const std::string& what) {
  SendToLog(LogSeverity::kWarning, StrCat(path.string(), ": ", what));
}

}  // namespace

// The last bytes of the file, whose first are the magic, too. The key lies before it, the index
// before the key.
struct PackFile::Footer {
  uint64_t key_bytes;
  uint64_t entries;
  uint64_t checksum;  // covers the index, the key and the arrays
  char magic[kMagic.size()];
};

class PackFile::Mapping {
 public:
  Mapping(int fd, uint64_t offset, size_t bytes, int flags)
      : data_(bytes == 0 ? nullptr
                         : mmap(nullptr, bytes, PROT_READ, MAP_SHARED | flags, fd,
                                static_cast<off_t>(offset))),
        bytes_(bytes) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (ok()) munmap(data_, bytes_);
  }

  bool ok() const { return data_ != nullptr && data_ != MAP_FAILED; }
  const std::byte* data() const { return static_cast<const std::byte*>(data_); }

 private:
  void* const data_;
  const size_t bytes_;
};

namespace {

class Checksum {
 public:
  Checksum() { XXH3_64bits_reset(&state_); }
  void Add(const void* data, size_t bytes) { XXH3_64bits_update(&state_, data, bytes); }
  uint64_t Get() const { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_;
};

}  // namespace

PackFile::PackFile(std::filesystem::path path, std::string key)
    : path_(std::move(path)), new_path_(path_.string() + ".new"), key_(std::move(key)) {
  may_write_ = Read();
  if (mapping_ == nullptr) entries_.clear();
}

PackFile::~PackFile() {
  if (file_.get() < 0) return;
  unlink(new_path_.c_str());
}

bool PackFile::Read() {
  std::error_code missing;
  if (!std::filesystem::exists(path_, missing)) return true;
  const absl::StatusOr<RegularFile> file = OpenRegularFile(path_, kMaxWeightsBytes);
  if (!file.ok()) {
    SendToLog(LogSeverity::kWarning, StrCat(file.status().message(), "; weights are packed anew"));
    return false;
  }
  const uint64_t bytes = file->bytes;
  Footer footer = {};
  if (bytes >= sizeof(footer)) {
    const auto at = static_cast<off_t>(bytes - sizeof(footer));
    if (pread(file->descriptor.get(), &footer, sizeof(footer), at) != sizeof(footer)) footer = {};
  }
  char magic[kMagic.size()] = {};
  if (bytes > 0 && (pread(file->descriptor.get(), magic, sizeof(magic), 0) != sizeof(magic) ||
                    std::string_view(magic, sizeof(magic)) != kMagic)) {
    Warn(path_, "is no file of packed weights; it is left alone, and packed weights are not kept");
    return false;
  }
  const auto damaged = [&] {
    Warn(path_, "is damaged; weights are packed anew");
    return true;
  };
  if (std::string_view(footer.magic, sizeof(footer.magic)) != kMagic) return damaged();
#ifdef MAP_POPULATE
  constexpr int kFlags = MAP_POPULATE;  // all of it is read now
#else
  constexpr int kFlags = 0;
#endif
  const uint64_t before = bytes - sizeof(footer);
  if (footer.key_bytes > before || footer.entries > (before - footer.key_bytes) / sizeof(Entry))
    return damaged();
  const uint64_t index = before - footer.key_bytes - footer.entries * sizeof(Entry);
  std::string key(footer.key_bytes, '\0');
  const auto key_at = static_cast<off_t>(before - footer.key_bytes);
  if (pread(file->descriptor.get(), key.data(), key.size(), key_at) !=
      static_cast<ssize_t>(key.size()))
    return damaged();
  if (key != key_) {
    SendToLog(
        LogSeverity::kInfo,
        StrCat(path_.string(),
               ": is of other weights, settings or another program; weights are packed anew"));
    return true;
  }
  auto mapping = std::make_shared<const Mapping>(file->descriptor.get(), 0, bytes, kFlags);
  if (!mapping->ok()) {
    Warn(path_, StrCat("cannot be mapped: ", ErrorText()));
    return false;
  }
  entries_.resize(footer.entries);
  Checksum checksum;
  checksum.Add(mapping->data() + index, footer.entries * sizeof(Entry));
  checksum.Add(key.data(), key.size());
  std::memcpy(entries_.data(), mapping->data() + index, footer.entries * sizeof(Entry));
  for (const Entry& entry : entries_) {
    if (entry.offset % kLine != 0 || entry.offset > index || entry.bytes > index - entry.offset)
      return damaged();
    checksum.Add(mapping->data() + entry.offset, entry.bytes);
  }
  if (checksum.Get() != footer.checksum) return damaged();
  mapping_ = std::move(mapping);
  return true;
}

kernels::PackStore::Array PackFile::Next() {
  if (mapping_ == nullptr || next_ == entries_.size()) return {};
  const Entry& entry = entries_[next_++];
  return {std::shared_ptr<const void>(mapping_, mapping_->data() + entry.offset), entry.bytes};
}

void PackFile::Reject() {
  Warn(path_, "has other arrays than this model; it is removed and weights are packed anew");
  mapping_ = nullptr;
  may_write_ = false;
  unlink(path_.c_str());
}

bool PackFile::BeginWriting() {
  if (file_.get() >= 0) return true;
  if (!may_write_ || mapping_ != nullptr) return false;
  FileDescriptor file(open(new_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (file.get() < 0) {
    GiveUp(ErrorText());
    return false;
  }
  // Another process may write it now, or may have renamed it since it was opened.
  struct stat opened = {};
  struct stat named = {};
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0 || fstat(file.get(), &opened) != 0 ||
      stat(new_path_.c_str(), &named) != 0 || opened.st_ino != named.st_ino) {
    GiveUp("another process writes it");
    return false;
  }
  file_ = std::move(file);
  if (ftruncate(file_.get(), 0) != 0 || !Write(kMagic.data(), kMagic.size(), 0)) {
    GiveUp(ErrorText());
    return false;
  }
  end_ = kMagic.size();
  return true;
}

bool PackFile::Write(const void* data, size_t bytes, uint64_t offset) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = pwrite(file_.get(), from, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += written;
    bytes -= static_cast<size_t>(written);
    offset += static_cast<uint64_t>(written);
  }
  return true;
}

void PackFile::GiveUp(const std::string& why) {
  SendToLog(LogSeverity::kInfo, StrCat(path_.string(), ": packed weights are not kept: ", why));
  if (file_.get() >= 0) unlink(new_path_.c_str());
  file_ = FileDescriptor();
  may_write_ = false;
}

std::shared_ptr<const void> PackFile::Keep(const void* data, size_t bytes) {
  if (!BeginWriting()) return nullptr;
  const uint64_t offset = OffsetOf(end_, bytes);
  if (!Write(data, bytes, offset)) {
    GiveUp(ErrorText());
    return nullptr;
  }
  entries_.push_back({offset, bytes});
  end_ = offset + bytes;
  // Small arrays share a page with others and stay where they are.
  if (bytes < kPage) return nullptr;
  auto mapping = std::make_shared<const Mapping>(file_.get(), offset, bytes, 0);
  if (!mapping->ok()) return nullptr;
  return std::shared_ptr<const void>(mapping, mapping->data());
}

void PackFile::Commit() {
  if (file_.get() < 0) return;
  Footer footer = {
      .key_bytes = key_.size(), .entries = entries_.size(), .checksum = 0, .magic = {}};
  std::copy(kMagic.begin(), kMagic.end(), footer.magic);
  const Mapping written(file_.get(), 0, end_, 0);
  if (!written.ok()) return GiveUp(ErrorText());
  Checksum checksum;
  checksum.Add(entries_.data(), entries_.size() * sizeof(Entry));
  checksum.Add(key_.data(), key_.size());
  for (const Entry& entry : entries_) checksum.Add(written.data() + entry.offset, entry.bytes);
  footer.checksum = checksum.Get();
  uint64_t at = RoundUp(end_, kLine);
  const auto append = [&](const void* data, size_t bytes) {
    const bool ok = Write(data, bytes, at);
    at += bytes;
    return ok;
  };
  if (!append(entries_.data(), entries_.size() * sizeof(Entry)) ||
      !append(key_.data(), key_.size()) || !append(&footer, sizeof(footer)) ||
      rename(new_path_.c_str(), path_.c_str()) != 0)
    return GiveUp(ErrorText());
  file_ = FileDescriptor();
  SendToLog(LogSeverity::kInfo,
            StrCat(path_.string(), ": packed weights are kept, ", at, " bytes"));
}

}  // namespace millrace::models
