#pragma once

#include <map>
#include <span>
#include <string>
#include <variant>

#include "server/config/commands.h"

namespace millrace {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

// Environment variables by name.
using Environment = std::map<std::string, std::string, std::less<>>;
Environment ProcessEnvironment();

// The process should end at once: help was requested (status 0) or the arguments are wrong (status
// 2).
struct EarlyExit {
  int status = kExitOk;
  std::string out;  // for standard output
  std::string err;  // for standard error
  // True when `serve` was to log JSON: `err` is then the bare message, to be logged as JSON.
  bool json_log = false;
};

// Reads arguments (without the program's name), then the environment, then the TOML file, with
// precedence flag > environment > file > default. Unknown flags, unknown TOML keys and unknown
// MILLRACE_* variables are refused by name.
std::variant<Command, EarlyExit> ParseCommandLine(std::span<const std::string> arguments,
                                                  const Environment& environment);

// Does the same for the client program, which leaves `serve` and `check` to the server program: it
// checks only the form of their arguments, because a configuration file may be a pipe, which can be
// read only once. Their configuration then holds the defaults, the log format of `serve` and, where
// they are known by then, the number of its executors. But `serve --print-config` is read in full.
std::variant<Command, EarlyExit> ParseClientCommandLine(std::span<const std::string> arguments,
                                                        const Environment& environment);

// Returns the effective configuration as TOML, with the origin of each value as a comment. Reading
// it back with --config gives the same configuration.
std::string PrintConfig(const ServerConfig& config, const Origins& origins);

}  // namespace millrace
