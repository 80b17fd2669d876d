#pragma once

#include <string>
#include <vector>

#include "server/config/command_reference.h"

namespace millrace::reference {

// Scripts that complete the commands of `millrace`, their options, and the values of options that
// allow a few words, a file or a folder.
std::string BashCompletion(const std::vector<CommandReference>& commands);
std::string ZshCompletion(const std::vector<CommandReference>& commands);
std::string FishCompletion(const std::vector<CommandReference>& commands);

}  // namespace millrace::reference
