#include "server/limits/key_limits.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "models/core/errors.h"
#include "server/logging/logging.h"

namespace millrace::server {
namespace {

// A file that everybody may write limits nobody.
absl::Status CheckMode(const std::filesystem::path& file, const WatchedFile::Content& content) {
  if ((content.mode & S_IWOTH) == 0) return absl::OkStatus();
  return FailedPrecondition(
      file.string(), ": everybody may write it and so change the limits; `chmod o-w` closes it");
}

}  // namespace

KeyLimits::KeyLimits(Policy policy, Clock& clock) : clock_(clock), policy_(std::move(policy)) {}

std::shared_ptr<KeyAccount> KeyLimits::AccountOf(std::string_view key) {
  MutexLock lock(mu_);
  const auto found = accounts_.find(key);
  if (found != accounts_.end()) return found->second;
  auto account = std::make_shared<KeyAccount>(std::string(key), accounts_.size() + 1,
                                              policy_.TierOf(key), clock_);
  accounts_.emplace(key, account);
  return account;
}

void KeyLimits::SetPolicy(Policy policy) {
  MutexLock lock(mu_);
  policy_ = std::move(policy);
  for (const auto& [name, account] : accounts_) account->SetTier(policy_.TierOf(name));
}

std::vector<KeyUsage> KeyLimits::Usage() const {
  std::vector<KeyUsage> usage;
  {
    MutexLock lock(mu_);
    for (const auto& [name, account] : accounts_) usage.push_back(account->usage());
  }
  std::ranges::sort(usage, {}, &KeyUsage::number);
  return usage;
}

PolicyFile::PolicyFile(std::filesystem::path file, HasKey has_key, WatchedFile::Options options)
    : has_key_(std::move(has_key)),
      clock_(*options.clock),
      file_(std::move(file),
            {.not_loaded = "policy not loaded; the one before, if any, stays in force",
             .check =
                 [this](const WatchedFile::Content& content) {
                   return CheckMode(file_.path(), content);
                 },
             .load = [this](const std::string& text) { return Load(text); }},
            options) {}

absl::StatusOr<std::unique_ptr<PolicyFile>> PolicyFile::Open(std::filesystem::path file,
                                                             HasKey has_key,
                                                             WatchedFile::Options options) {
  std::unique_ptr<PolicyFile> opened(new PolicyFile(std::move(file), std::move(has_key), options));
  MILLRACE_RETURN_IF_ERROR(opened->Reload());
  opened->file_.Watch();
  return opened;
}

absl::StatusOr<std::unique_ptr<PolicyFile>> PolicyFile::Open(std::filesystem::path file,
                                                             HasKey has_key) {
  return Open(std::move(file), std::move(has_key), WatchedFile::Options());
}

absl::Status PolicyFile::Load(const std::string& text) {
  const std::string file = file_.path().string();
  MILLRACE_ASSIGN_OR_RETURN(Policy policy, ParsePolicy(text, file));
  const size_t tiers = policy.tiers.size();
  const size_t keys = policy.keys.size();
  // It may be that the key is yet to be made, so this is no error.
  for (const auto& [name, tier] : policy.keys) {
    if (has_key_ && !has_key_(name)) {
      logging::Warning("policy names a key that --api-keys does not have",
                       {{"file", file}, {"key", name}, {"tier", policy.tiers[tier].name}});
    }
  }
  if (limits_ == nullptr) {
    limits_ = std::make_unique<KeyLimits>(std::move(policy), clock_);
  } else {
    limits_->SetPolicy(std::move(policy));
  }
  logging::Info("policy loaded",
                {{"file", file}, {"tiers", uint64_t{tiers}}, {"keys", uint64_t{keys}}});
  return absl::OkStatus();
}

}  // namespace millrace::server
