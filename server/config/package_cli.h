#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/command_line.h"

namespace CLI {
class App;
}  // namespace CLI

namespace millrace {

// The options of pull, add and remove, and of `models --available`, as they are parsed.
struct PackageValues {
  std::vector<std::string> names;  // names of models, or the path that is added
  std::string folder = "var/models";
  std::string as, precision, source, target, license, filter;
  bool license_ok = false, force = false, json = false;
};

// Adds pull, add and remove. add_client_options: adds the options of a connection to a command.
// App keeps pointers into the values.
void AddPackageCommands(CLI::App& app, PackageValues& values,
                        const std::function<void(CLI::App&)>& add_client_options);
// Returns the command that was parsed, of which `models` is that with --available.
absl::StatusOr<Command> MakePackageCommand(PackageValues values, const CLI::App& subcommand,
                                           const ClientOptions& client,
                                           const Environment& environment);

}  // namespace millrace
