#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/config/command_line.h"
#include "server/config/commands.h"

namespace millrace {

// A value that a source of configuration gave.
struct GivenValue {
  std::string value;
  std::string place;  // how an error names it: "--queue-size", "MILLRACE_QUEUE_SIZE", "conf.toml:3:
                      // queue_size"
  std::string origin;  // how --print-config names it: "flag --queue-size", "file conf.toml:3"
};
using GivenValues = std::map<std::string, GivenValue, std::less<>>;

// Rejects MILLRACE_* variables that nothing reads. Empty variables count as not set.
absl::StatusOr<GivenValues> ReadEnvironment(const Environment& environment);
// Rejects keys that no option has.
absl::StatusOr<GivenValues> ReadTomlFile(const std::string& file);
// Parses what a file of that name contains.
absl::StatusOr<GivenValues> ParseToml(std::string_view text, const std::string& file);

// Returns true if Kubernetes sets this variable by itself for a service whose name starts with
// "millrace".
bool IsKubernetesServiceVariable(std::string_view name, std::string_view value);

// Applies the values. A value that its option does not allow is an error that names the place, the
// value and what is allowed.
absl::Status Apply(const GivenValues& values, ServerConfig& config, Origins& origins);

}  // namespace millrace
