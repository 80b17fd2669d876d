// Writes the man pages and the shell completions of `millrace` into a folder, for packages.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "server/config/command_reference.h"
#include "server/reference/man_pages.h"
#include "server/reference/shell_completions.h"

namespace millrace::reference {
namespace {

struct File {
  const char* name;
  std::string text;
};

int Write(const std::filesystem::path& folder, const std::string& date) {
  const std::vector<CommandReference> commands = DescribeCommandLine();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const File& file :
       {File{"millrace.1", MillracePage(commands, date)},
        File{"millrace-serve.1", ServePage(commands, date)},
        File{"millrace.toml.5", TomlPage(date)}, File{"millrace.bash", BashCompletion(commands)},
        File{"_millrace", ZshCompletion(commands)},
        File{"millrace.fish", FishCompletion(commands)}}) {
    std::ofstream out(folder / file.name, std::ios::binary);
    out << file.text;
    out.close();
    if (!out) {
      std::fprintf(stderr, "millrace_reference: %s cannot be written\n",
                   (folder / file.name).c_str());
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace millrace::reference

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(
        stderr,
        "Usage: millrace_reference FOLDER DATE, for example: millrace_reference out 2026-11-24\n");
    return 2;
  }
  return millrace::reference::Write(argv[1], argv[2]);
}
