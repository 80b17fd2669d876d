// Looks for files of settings that break their reader, or that it refuses without a line for the
// operator; and for a configuration that does not come back as it was printed. The first byte of an
// input says what the file is: a configuration (c), API keys (k) or a policy (p).
//
// usage: settings_files_fuzz [-max_total_time=60] tests/fuzz/seeds/settings_files

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/config/command_line.h"
#include "server/config/sources.h"
#include "server/limits/policy.h"
#include "server/security/api_key_file.h"
#include "tests/fuzz/require.h"

namespace millrace {
namespace {

const std::string& File() {
  static const std::string file = "settings";
  return file;
}

void RequireLine(const absl::Status& status) {
  Require(absl::IsInvalidArgument(status), "refuses with another status");
  Require(!status.message().empty(), "refuses without a reason");
}

// Returns the effective configuration without the origins of its values.
std::string Printed(const ServerConfig& config) { return PrintConfig(config, Origins()); }

absl::Status ReadConfig(std::string_view text, ServerConfig& config) {
  const auto values = ParseToml(text, File());
  if (!values.ok()) return values.status();
  Origins origins;
  if (absl::Status status = Apply(*values, config, origins); !status.ok()) return status;
  return Validate(config);
}

void CheckConfig(std::string_view text) {
  ServerConfig config;
  if (absl::Status status = ReadConfig(text, config); !status.ok()) return RequireLine(status);
  const std::string printed = Printed(config);
  ServerConfig again;
  Require(ReadConfig(printed, again).ok(), "refuses what it has printed");
  Require(Printed(again) == printed, "reads something else than it has printed");
}

void CheckKeys(std::string_view text) {
  const auto keys = ParseApiKeys(text, File());
  if (!keys.ok()) return RequireLine(keys.status());
  for (const ApiKeyEntry& entry : *keys)
    Require(!entry.principal.name.empty(), "a key without a name");
}

void CheckPolicy(std::string_view text) {
  const auto policy = server::ParsePolicy(text, File());
  if (!policy.ok()) return RequireLine(policy.status());
  Require(policy->default_tier < policy->tiers.size(), "no default tier");
  Require(policy->anonymous_tier < policy->tiers.size(), "no anonymous tier");
  for (const auto& [key, tier] : policy->keys)
    Require(tier < policy->tiers.size(), "a key without a tier");
  for (const server::Tier& tier : policy->tiers) Require(tier.weight > 0, "a tier without weight");
}

}  // namespace
}  // namespace millrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0]) {
    case 'c':
      millrace::CheckConfig(text);
      break;
    case 'k':
      millrace::CheckKeys(text);
      break;
    case 'p':
      millrace::CheckPolicy(text);
      break;
    default:
      break;
  }
  return 0;
}
