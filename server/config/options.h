#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/config/server_config.h"

namespace millrace {

// One option of `millrace serve`, with the data of its flag, environment variable, TOML key, help
// text and check.
struct Option {
  enum class Literal { kText, kNumber, kBool };  // how TOML writes the value

  std::string name;         // "queue-size"; flag, variable and key follow from it
  std::string group;        // the heading in the help
  std::string placeholder;  // "N"
  std::string help;
  std::string allowed;               // for errors, such as "1..65536"
  std::vector<std::string> choices;  // all that is allowed, where those are a few words
  Literal literal = Literal::kText;
  std::function<bool(ServerConfig&, const std::string&)>
      set;  // returns false when the value is not allowed and nothing changed
  std::function<std::string(const ServerConfig&)> get;  // in the form that `set` reads
  // Checks the value together with those of other options; null: it goes with all of them.
  std::function<absl::Status(const ServerConfig&)> check = nullptr;
  std::string front_end = {};  // the front end whose setting it is; empty: the server's
  bool is_built = true;        // false: this build has no such front end, and refuses the option
};

// Returns all options in the order of the help.
std::span<const Option> ServeOptions();
const Option* FindOption(std::string_view name);

std::string FlagOf(std::string_view option);      // "--queue-size"
std::string VariableOf(std::string_view option);  // "MILLRACE_QUEUE_SIZE"
std::string KeyOf(std::string_view option);       // "queue_size"

}  // namespace millrace
