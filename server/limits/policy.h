#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/scheduling/fair_share.h"

namespace millrace::server {

// The limits of the keys of a tier, and their claim to the workers. None: no limit.
struct Tier {
  std::string name = {};
  std::optional<double> requests_per_minute = {};
  std::optional<double> characters_per_minute = {};
  std::optional<double> audio_seconds_per_minute = {};
  std::optional<size_t> concurrent_requests = {};
  double weight = 1;  // weighs its share of the workers' time against those of other keys
  Priority priority = Priority::kNormal;
};

// Which key belongs to which tier. Plain data. Keys are called by their names in the file of API
// keys.
struct Policy {
  std::vector<Tier> tiers;
  std::map<std::string, size_t, std::less<>> keys;  // indices of tiers
  size_t default_tier = 0;                          // the tier of keys that no tier names
  size_t anonymous_tier = 0;                        // the tier of callers without a key

  // "": callers without a key.
  const Tier& TierOf(std::string_view key) const;
};

// Parses a policy in TOML:
//
//   default = "standard"
//   anonymous = "guest"
//
//   [tiers.standard]
//   requests_per_minute = 600
//   weight = 2
//   priority = "high"
//   keys = ["alice", "bob"]
//
// InvalidArgument names the file, the line, the key, its value and what is allowed.
absl::StatusOr<Policy> ParsePolicy(std::string_view text, const std::string& file);

}  // namespace millrace::server
