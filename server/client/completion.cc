#include <cstdio>

#include "server/client/client.h"
#include "server/config/command_line.h"
#include "server/config/command_reference.h"
#include "server/reference/shell_completions.h"

namespace millrace {

int RunCompletion(const CompletionCommand& command) {
  const std::vector<CommandReference> commands = DescribeCommandLine();
  std::string script;
  if (command.shell == "bash") script = reference::BashCompletion(commands);
  if (command.shell == "zsh") script = reference::ZshCompletion(commands);
  if (command.shell == "fish") script = reference::FishCompletion(commands);
  std::fputs(script.c_str(), stdout);
  return kExitOk;
}

}  // namespace millrace
