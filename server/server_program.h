#pragma once

#include <string>

#include "mps_runtime/base/file.h"

namespace millrace {

// The file names of the programs that are in the folder of `millrace`: the server program, which
// links libtorch, and the front, a server whose models are in executors.
inline constexpr const char* kServerProgram = "millrace-server";
inline constexpr const char* kFrontProgram = "millrace-front";

// Executes a program of this one's folder with the same arguments, process number, descriptors and
// environment. Returns only if that fails, with the reason.
std::string ExecBeside(const char* program, char** argv);

// A program in the folder of this one.
class ProgramBeside {
 public:
  explicit ProgramBeside(const char* name);

  // Returns a path by which it can be started. On Linux that names the file that was there when
  // this was made, even if another one takes its name, as in an upgrade.
  const std::string& path() const { return path_; }

 private:
  FileDescriptor file_;
  std::string path_;
};

}  // namespace millrace
