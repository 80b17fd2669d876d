#include "server/control/model_safety.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/repository/package_digest.h"

namespace millrace::server {
namespace {

using runtime::ProfileItem;

const ProfileItem* Find(const std::vector<ProfileItem>& items, const std::string& name) {
  const auto found = std::find_if(items.begin(), items.end(),
                                  [&](const ProfileItem& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

}  // namespace

std::optional<runtime::SafetyProfile> ModelSafety::Read() const {
  std::error_code error;
  if (!options_.file_was_named && std::filesystem::symlink_status(options_.file, error).type() ==
                                      std::filesystem::file_type::not_found) {
    return std::nullopt;
  }
  try {
    return runtime::ReadSafetyProfile(options_.file);
  } catch (const runtime::SafetyProfileError& broken) {
    warn_(StrCat("safety profile ignored: ", broken.what()));
    return std::nullopt;
  }
}

std::optional<int> ModelSafety::Measured(const runtime::DeviceFacts& facts) {
  policy_ = facts.policy_concurrency;
  profile_ = Read();
  if (!profile_) return std::nullopt;
  const std::string difference =
      runtime::Difference(profile_->key, runtime::KeyOf(facts.provenance));
  if (!difference.empty()) {
    warn_(StrCat("safety profile ignored: ", options_.file.string(),
                 ": was measured elsewhere: ", difference, "; run `millrace calibrate` again"));
    profile_.reset();
    return std::nullopt;
  }

  if (facts.mode != facts.default_mode && facts.mode != runtime::ForwardMode::kSerial) {
    warn_(StrCat("safety profile ignored: ", options_.file.string(), ": was measured in mode ",
                 runtime::ToString(facts.default_mode), ", here it is ",
                 runtime::ToString(facts.mode)));
    profile_.reset();
    return std::nullopt;
  }

  int least = facts.useful_concurrency;
  const auto lower = [&](const Cap& cap, const std::string& what) {
    if (!cap.why.empty())
      warn_(StrCat("safety profile ", options_.file.string(), ": ", what, " ", cap.why));
    if (cap.forwards < least) {
      least = cap.forwards;
      limited_by_ = what;
    }
  };
  for (const ProfileItem& op : profile_->operators) {
    lower(op.safe_concurrency > 0 ? Cap{op.safe_concurrency, ""}
                                  : Cap{1, "did not even survive alone: counts as 1"},
          StrCat("operator ", op.name));
  }
  for (const std::string& name : options_.operators) {
    if (Find(profile_->operators, name) == nullptr)
      lower({policy_, StrCat("is not covered: counts as ", policy_)}, StrCat("operator ", name));
  }
  const models::ModelRepository repository(options_.models, {});
  const auto entries = repository.List();
  if (!entries.ok()) return least;  // then no model is served
  for (const auto& entry : *entries) {
    const auto package = repository.Find(entry);
    if (!package.ok()) continue;  // then it is not loaded either
    const auto digest = models::DigestOf(*package);
    if (!digest.ok()) continue;
    lower(CapOf(*package, *digest), StrCat("model ", entry.name));
    digests_[package->folder.string()] = *digest;
  }
  return least;
}

ModelSafety::Cap ModelSafety::CapOf(const models::ModelRepository::Package& package,
                                    const std::string& digest) const {
  const ProfileItem* item = Find(profile_->models, package.name);
  if (item == nullptr) return {policy_, StrCat("is not covered: counts as ", policy_)};
  if (digest != item->sha256) {
    return {policy_, StrCat("version ", package.version,
                            " is not the one that was measured: counts as ", policy_)};
  }
  if (item->safe_concurrency == 0) return {1, "did not even survive alone: counts as 1"};
  return {item->safe_concurrency, ""};
}

absl::Status ModelSafety::Check(const models::ModelRepository::Package& package, int permits) {
  if (!profile_) return absl::OkStatus();
  auto known = digests_.extract(package.folder.string());
  MILLRACE_ASSIGN_OR_RETURN(const std::string digest,
                            known.empty() ? models::DigestOf(package) : std::move(known.mapped()));
  const Cap cap = CapOf(package, digest);
  if (cap.forwards >= permits) return absl::OkStatus();
  return FailedPrecondition(
      "model '", package.name, "': ", permits,
      " forwards at once may run now, but by the safety profile ", options_.file.string(), " it ",
      cap.why.empty() ? StrCat("survives ", cap.forwards, " at once") : cap.why,
      ": start the server again with it, or run `millrace calibrate`");
}

}  // namespace millrace::server
