#include <cstdio>
#include <string>

#include "server/client/client.h"
#include "server/client/connection.h"
#include "server/config/command_line.h"
#include "server/security/api_key_store.h"

namespace millrace {

int RunHashKey(const HashKeyCommand& command) {
  std::string key;
  bool made_here = false;
  if (command.from_stdin) {
    const auto input = ReadInput();
    if (!input.ok()) return Fail(std::string(input.status().message()));
    key = *input;
    while (key.ends_with('\n') || key.ends_with('\r')) key.pop_back();
    if (key.empty()) return Fail("standard input holds no key");
  } else {
    const auto made = GenerateApiKey();
    if (!made.ok()) return Fail(std::string(made.status().message()));
    key = *made;
    made_here = true;
  }
  const auto line =
      ApiKeyLine(command.name, command.role == "admin" ? Role::kAdmin : Role::kUser, key);
  if (!line.ok()) {
    Fail(std::string(line.status().message()));
    return kExitUsage;
  }
  if (!command.append.empty()) {
    if (absl::Status status = AppendApiKeyLine(command.append, *line); !status.ok())
      return Fail(std::string(status.message()));
  }
  // The key is printed on the other stream, so that this one has the line alone.
  if (made_here && std::fprintf(stderr, "key, shown only now: %s\n", key.c_str()) < 0)
    return kExitFailed;  // nobody has seen it, and this stream cannot say so
  if (command.append.empty()) std::printf("%s\n", line->c_str());
  return kExitOk;
}

}  // namespace millrace
