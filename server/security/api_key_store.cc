#include "server/security/api_key_store.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/logging/logging.h"
#include "server/security/api_key_file.h"

namespace millrace {
namespace {

constexpr size_t kMaxFileBytes = size_t{4} << 20;

struct FileContent {
  std::string text;
  mode_t mode = 0;
};

absl::StatusOr<FileContent> ReadFile(const std::filesystem::path& file) {
  const auto error = [&] {
    return absl::FailedPreconditionError(
        absl::StrCat(file.string(), ": cannot be read: ", std::strerror(errno)));
  };
  // The open does not block, because the path may name a pipe.
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return error();
  struct Closer {
    int descriptor;
    ~Closer() { close(descriptor); }
  } closer{descriptor};
  struct stat state {};
  if (fstat(descriptor, &state) != 0) return error();
  if (!S_ISREG(state.st_mode))
    return absl::FailedPreconditionError(absl::StrCat(file.string(), ": is not a file"));
  FileContent content;
  content.mode = state.st_mode & 07777;
  char buffer[16384];
  for (ssize_t count; (count = read(descriptor, buffer, sizeof(buffer))) != 0;) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return error();
    content.text.append(buffer, static_cast<size_t>(count));
    if (content.text.size() > kMaxFileBytes) {
      return absl::FailedPreconditionError(
          absl::StrCat(file.string(), ": is larger than ", kMaxFileBytes, " bytes"));
    }
  }
  return content;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ApiKeyStore>> ApiKeyStore::Open(std::filesystem::path file,
                                                               Options options) {
  std::unique_ptr<ApiKeyStore> store(new ApiKeyStore(std::move(file), options));
  if (absl::Status status = store->Reload(); !status.ok()) return status;
  if (options.poll_interval.count() > 0)
    store->poller_ = std::thread([s = store.get()] { s->PollLoop(); });
  return store;
}

absl::StatusOr<std::unique_ptr<ApiKeyStore>> ApiKeyStore::Open(std::filesystem::path file) {
  return Open(std::move(file), Options());
}

ApiKeyStore::ApiKeyStore(std::filesystem::path file, Options options)
    : file_(std::move(file)), options_(options), keys_(std::make_shared<Keys>()) {}

ApiKeyStore::~ApiKeyStore() {
  {
    MutexLock lock(poll_mu_);
    stopping_ = true;
  }
  poll_cv_.NotifyAll();
  if (poller_.joinable()) poller_.join();
}

std::optional<Principal> ApiKeyStore::Authenticate(std::string_view key) const {
  std::shared_ptr<const Keys> keys;
  {
    MutexLock lock(keys_mu_);
    keys = keys_;
  }
  const KeyDigest digest = DigestOf(key);
  // Every entry is compared, always, so that the time taken does not reveal which key matched or
  // how much of it.
  const ApiKeyEntry* match = nullptr;
  for (const ApiKeyEntry& entry : *keys) {
    match = CRYPTO_memcmp(entry.digest.data(), digest.data(), digest.size()) == 0 ? &entry : match;
  }
  if (match == nullptr) return std::nullopt;
  return match->principal;
}

absl::Status ApiKeyStore::Reload() {
  MutexLock lock(reload_mu_);
  const absl::Status before = outcome_;
  outcome_ = Load();
  if (!outcome_.ok() && outcome_ != before) {
    logging::Error("API keys not loaded; those before, if any, stay in force",
                   {{"reason", outcome_.message()}});
  }
  return outcome_;
}

absl::Status ApiKeyStore::Load() {
  absl::StatusOr<FileContent> content = ReadFile(file_);
  if (!content.ok()) return content.status();
  if ((content->mode & S_IWOTH) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(file_.string(), ": everybody may write it (mode ", OctalMode(content->mode),
                     ") and so let himself in, allowed are 0600 and 0640"));
  }
  if ((content->mode & ~kKeyFileMode) != 0 && !warned_of_mode_) {
    warned_of_mode_ = true;
    logging::Warning("API key file is open to others, 0600 or 0640 is enough",
                     {{"file", file_.string()}, {"mode", OctalMode(content->mode)}});
  }
  if (content->text == content_) return content_status_;
  absl::StatusOr<Keys> keys = ParseApiKeys(content->text, file_.string());
  content_ = std::move(content->text);
  content_status_ = keys.status();
  if (!keys.ok()) return content_status_;
  const size_t count = keys->size();
  auto next = std::make_shared<const Keys>(*std::move(keys));
  {
    MutexLock lock(keys_mu_);
    keys_.swap(next);
  }
  logging::Info("API keys loaded", {{"file", file_.string()}, {"keys", uint64_t{count}}});
  return absl::OkStatus();
}

void ApiKeyStore::PollLoop() {
  MutexLock lock(poll_mu_);
  while (!stopping_) {
    const TimePoint next = options_.clock->Now() + options_.poll_interval;
    while (!stopping_ && options_.clock->Now() < next)
      options_.clock->WaitUntil(poll_cv_, poll_mu_, next);
    if (stopping_) return;
    lock.Unlock();
    // Reload logs errors; there is no caller to report them to.
    try {
      Reload().IgnoreError();
    } catch (const std::exception& error) {  // such as std::bad_alloc: the keys stay as they are
      logging::Error("API keys not loaded", {{"file", file_.native()}, {"reason", error.what()}});
    }
    lock.Lock();
  }
}

}  // namespace millrace
