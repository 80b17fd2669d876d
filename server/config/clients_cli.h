#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/command_line.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace millrace {

// The subcommands other than serve and check, as parsed so far. There is one object in a process;
// App keeps pointers into it.
class ClientCommands {
 public:
  explicit ClientCommands(CLI::App& app);
  ~ClientCommands();

  // Returns the command whose subcommand was given. Must be called after parsing. The environment
  // supplies values that no flag gave.
  absl::StatusOr<Command> Parsed(const CLI::App& subcommand, const Environment& environment) const;

  // Returns the words that an option of these commands allows; none where it allows more than a
  // few.
  static std::vector<std::string> Choices(CLI::Option& option);

 private:
  struct Values;
  const std::unique_ptr<Values> values_;
};

}  // namespace millrace
