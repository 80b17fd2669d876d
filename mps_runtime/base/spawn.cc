#include "mps_runtime/base/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>

extern char** environ;

namespace millrace {
namespace {

// The settings for posix_spawn, which are released at the end. Each setter returns an errno value.
class SpawnSettings {
 public:
  SpawnSettings()
      : actions_error_(posix_spawn_file_actions_init(&actions_)),
        attributes_error_(posix_spawnattr_init(&attributes_)) {}
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    if (attributes_error_ == 0) posix_spawnattr_destroy(&attributes_);
    if (actions_error_ == 0) posix_spawn_file_actions_destroy(&actions_);
  }

  int error() const { return actions_error_ != 0 ? actions_error_ : attributes_error_; }

  int SetStream(int number, int descriptor) {
    if (descriptor >= 0) {
      return posix_spawn_file_actions_adddup2(&actions_, descriptor, number);
    }
    if (descriptor == kDevNull) {
      const int mode = number == STDIN_FILENO ? O_RDONLY : O_WRONLY;
      return posix_spawn_file_actions_addopen(&actions_, number, "/dev/null", mode, 0);
    }
#ifdef __APPLE__
    return posix_spawn_file_actions_addinherit_np(&actions_, number);
#else
    return 0;
#endif
  }

  int SetGroupAndSignals() {
    short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
#ifdef __APPLE__
    flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    // A program that ignores a limit on the size of files has its children do so too: espeak-ng
    // would end where it makes a shared memory that it can do without.
    sigdelset(&all, SIGXFSZ);
    int error = posix_spawnattr_setflags(&attributes_, flags);
    if (error == 0) error = posix_spawnattr_setpgroup(&attributes_, 0);
    if (error == 0) error = posix_spawnattr_setsigmask(&attributes_, &none);
    if (error == 0) error = posix_spawnattr_setsigdefault(&attributes_, &all);
    return error;
  }

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  const int actions_error_;
  const int attributes_error_;
};

}  // namespace

int SpawnProgram(const std::string& program, const std::vector<std::string>& arguments,
                 const ChildStreams& streams, pid_t& child) {
  SpawnSettings settings;
  int error = settings.error();
  if (error == 0) error = settings.SetStream(STDIN_FILENO, streams.input);
  if (error == 0) error = settings.SetStream(STDOUT_FILENO, streams.output);
  if (error == 0) error = settings.SetStream(STDERR_FILENO, streams.error);
  if (error == 0) error = settings.SetGroupAndSignals();
  if (error != 0) return error;
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  return posix_spawn(&child, program.c_str(), settings.actions(), settings.attributes(),
                     argv.data(), environ);
}

}  // namespace millrace
