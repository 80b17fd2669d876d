#include "server/security/api_key_store.h"

#include <openssl/crypto.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "models/core/errors.h"
#include "server/logging/logging.h"
#include "server/security/api_key_file.h"

namespace millrace {

absl::StatusOr<std::unique_ptr<ApiKeyStore>> ApiKeyStore::Open(std::filesystem::path file,
                                                               Options options) {
  std::unique_ptr<ApiKeyStore> store(new ApiKeyStore(std::move(file), options));
  MILLRACE_RETURN_IF_ERROR(store->Reload());
  store->file_.Watch();
  return store;
}

absl::StatusOr<std::unique_ptr<ApiKeyStore>> ApiKeyStore::Open(std::filesystem::path file) {
  return Open(std::move(file), Options());
}

ApiKeyStore::ApiKeyStore(std::filesystem::path file, Options options)
    : keys_(std::make_shared<Keys>()),
      file_(std::move(file),
            {.not_loaded = "API keys not loaded; those before, if any, stay in force",
             .check = [this](const WatchedFile::Content& content) { return Check(content); },
             .load = [this](const std::string& text) { return Load(text); }},
            options) {}

ApiKeyStore::~ApiKeyStore() = default;

std::shared_ptr<const ApiKeyStore::Keys> ApiKeyStore::keys() const {
  MutexLock lock(keys_mu_);
  return keys_;
}

bool ApiKeyStore::HasName(std::string_view name) const {
  return std::ranges::any_of(
      *keys(), [name](const ApiKeyEntry& entry) { return entry.principal.name == name; });
}

std::optional<Principal> ApiKeyStore::Authenticate(std::string_view key) const {
  const std::shared_ptr<const Keys> keys = this->keys();
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

absl::Status ApiKeyStore::Check(const WatchedFile::Content& content) {
  const std::string file = file_.path().string();
  if ((content.mode & S_IWOTH) != 0) {
    return FailedPrecondition(file, ": everybody may write it (mode ", OctalMode(content.mode),
                              ") and so let himself in, allowed are 0600 and 0640");
  }
  if ((content.mode & ~kKeyFileMode) != 0 && !warned_of_mode_) {
    warned_of_mode_ = true;
    logging::Warning("API key file is open to others, 0600 or 0640 is enough",
                     {{"file", file}, {"mode", OctalMode(content.mode)}});
  }
  return absl::OkStatus();
}

absl::Status ApiKeyStore::Load(const std::string& text) {
  const std::string file = file_.path().string();
  MILLRACE_ASSIGN_OR_RETURN(Keys keys, ParseApiKeys(text, file));
  const size_t count = keys.size();
  auto next = std::make_shared<const Keys>(std::move(keys));
  {
    MutexLock lock(keys_mu_);
    keys_.swap(next);
  }
  logging::Info("API keys loaded", {{"file", file}, {"keys", uint64_t{count}}});
  return absl::OkStatus();
}

}  // namespace millrace
