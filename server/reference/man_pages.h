#pragma once

#include <string>
#include <vector>

#include "server/config/command_reference.h"

namespace millrace::reference {

// A page in the man macros of roff. `date` is a day such as 2026-11-24, for the page's foot.

// millrace(1): all commands, with the options of those other than serve and check.
std::string MillracePage(const std::vector<CommandReference>& commands, const std::string& date);

// millrace-serve(1): serve and check.
std::string ServePage(const std::vector<CommandReference>& commands, const std::string& date);

// millrace.toml(5): the keys of the configuration file.
std::string TomlPage(const std::string& date);

}  // namespace millrace::reference
