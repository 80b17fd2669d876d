#include "server/server_program.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "models/core/strings.h"
#include "mps_runtime/base/this_program.h"

namespace millrace {

std::string ExecServerProgram(char** argv) {
  // The real path is used, because a link to this program may be in another folder.
  std::error_code error;
  const std::filesystem::path path =
      std::filesystem::canonical(ThisProgram(), error).replace_filename(kServerProgram);
  if (!error) {
    execv(path.c_str(), argv);
    error.assign(errno, std::generic_category());
  }
  return StrCat("cannot start ", path.string(), ": ", error.message(),
                "; it belongs into the folder of this program");
}

}  // namespace millrace
