#pragma once

#include <string>
#include <vector>

namespace millrace {

// An option or argument of a command as its help shows it, for man pages and completions.
struct OptionReference {
  std::vector<std::string> flags;  // "-o" and "--output"; empty: an argument without a flag
  std::string placeholder;         // "FILE"; empty: it takes no value
  bool value_may_be_missing = false;
  std::string help;
  std::string group;                 // the heading in the help
  std::vector<std::string> choices;  // all that is allowed, where those are a few words
};

struct CommandReference {
  std::string name;
  std::string summary;
  std::vector<OptionReference> options;
};

// Returns all commands of `millrace` in the order of the help. The texts are the same on all
// machines.
std::vector<CommandReference> DescribeCommandLine();

}  // namespace millrace
