#include "server/server_program.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "models/core/strings.h"
#include "mps_runtime/base/this_program.h"

namespace millrace {
namespace {

// The real path is used, because a link to this program may be in another folder.
std::filesystem::path Beside(const char* program, std::error_code& error) {
  return std::filesystem::canonical(ThisProgram(), error).replace_filename(program);
}

}  // namespace

std::string ExecBeside(const char* program, char** argv) {
  std::error_code error;
  const std::filesystem::path path = Beside(program, error);
  if (!error) {
    execv(path.c_str(), argv);
    error.assign(errno, std::generic_category());
  }
  return StrCat("cannot start ", path.string(), ": ", error.message(),
                "; it belongs into the folder of this program");
}

ProgramBeside::ProgramBeside(const char* name) {
  std::error_code ignored;
  path_ = Beside(name, ignored).string();
#ifdef __linux__
  file_ = FileDescriptor(open(path_.c_str(), O_PATH | O_CLOEXEC));
  if (file_.get() >= 0) path_ = StrCat("/proc/self/fd/", file_.get());
#endif
}

}  // namespace millrace
