#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace {

enum class Role : uint8_t { kUser, kAdmin };

// Who a key belongs to.
struct Principal {
  std::string name;
  Role role = Role::kUser;
};

// The API keys of a file, reloaded when it changes. A line is name:role:sha256hex(key), role "user" or "admin"; '#' starts a
// comment line. Keys themselves are never stored. A changed file that cannot be read or parsed is logged and the keys before it
// stay in force.
//
// Thread-safe; one thread of its own looks at the file's state. Authenticate costs one SHA-256 and a comparison with every key,
// always all of them, each in constant time.
class ApiKeyStore {
 public:
  struct Options {
    std::chrono::milliseconds poll_interval = std::chrono::seconds(2);   // 0: no thread, only ReloadIfChanged
    Clock* clock = &Clock::Real();
  };

  // Fails with the file and line when the first load does.
  static absl::StatusOr<std::unique_ptr<ApiKeyStore>> Open(std::filesystem::path file, Options options);
  static absl::StatusOr<std::unique_ptr<ApiKeyStore>> Open(std::filesystem::path file);
  ~ApiKeyStore();
  ApiKeyStore(const ApiKeyStore&) = delete;
  ApiKeyStore& operator=(const ApiKeyStore&) = delete;

  std::optional<Principal> Authenticate(std::string_view key) const EXCLUDES(keys_mu_);

  // Looks at the file now; OK when nothing changed or the new content is in force.
  absl::Status ReloadIfChanged() EXCLUDES(reload_mu_, keys_mu_);

 private:
  using Digest = std::array<unsigned char, 32>;
  struct Key {
    Principal principal;
    Digest digest;
  };
  using Keys = std::vector<Key>;
  // What tells one content of the file from another without reading it.
  struct FileState {
    int64_t mtime_ns = 0;
    uint64_t size = 0;
    uint64_t inode = 0;
    friend bool operator==(const FileState&, const FileState&) = default;
  };

  ApiKeyStore(std::filesystem::path file, Options options);
  static absl::StatusOr<Keys> Parse(std::string_view text, const std::string& file);
  absl::Status Load(FileState state) REQUIRES(reload_mu_) EXCLUDES(keys_mu_);
  void PollLoop() EXCLUDES(poll_mu_);

  const std::filesystem::path file_;
  const Options options_;

  Mutex reload_mu_;
  std::optional<FileState> seen_ GUARDED_BY(reload_mu_);   // of the last attempt, good or bad
  absl::Status last_load_ GUARDED_BY(reload_mu_);

  mutable Mutex keys_mu_;
  std::shared_ptr<const Keys> keys_ GUARDED_BY(keys_mu_);   // shared: readers keep a set that a reload replaces

  Mutex poll_mu_;
  CondVar poll_cv_;
  bool stopping_ GUARDED_BY(poll_mu_) = false;
  std::thread poller_;   // last: it uses all of the above
};

// The key in an `authorization: Bearer <key>` value, or empty. The scheme's case does not matter.
std::string_view BearerToken(std::string_view authorization);

// A line of the file for this key; InvalidArgument for a name that a line cannot hold.
absl::StatusOr<std::string> ApiKeyLine(std::string_view name, Role role, std::string_view key);
// 32 random bytes in URL-safe letters.
std::string GenerateApiKey();

}  // namespace millrace
