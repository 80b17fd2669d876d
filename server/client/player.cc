#include "server/client/player.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "mps_runtime/base/find_program.h"
#include "mps_runtime/base/spawn.h"

namespace millrace {
namespace {

struct KnownPlayer {
  const char* name;
  std::vector<std::string> arguments;
};

// They are ALSA's, FFmpeg's, SoX's and mpv, in the order in which they are tried.
const std::vector<KnownPlayer>& KnownPlayers() {
  static const std::vector<KnownPlayer>& players =
      *new std::vector<KnownPlayer>{{"aplay", {"-q", "-"}},
                                    {"ffplay", {"-nodisp", "-autoexit", "-loglevel", "error", "-"}},
                                    {"play", {"-q", "-t", "wav", "-"}},
                                    {"mpv", {"--really-quiet", "--no-terminal", "-"}}};
  return players;
}

}  // namespace

Player::Player(std::string name, FileDescriptor input, pid_t process)
    : name_(std::move(name)), input_(std::move(input)), process_(process) {}

absl::StatusOr<std::unique_ptr<Player>> Player::Start() {
  for (const KnownPlayer& known : KnownPlayers()) {
    const std::filesystem::path program = FindProgram(known.name);
    if (program.empty()) continue;
    std::array<int, 2> ends = {-1, -1};
    if (pipe(ends.data()) != 0) return absl::ErrnoToStatus(errno, "cannot make a pipe");
    const FileDescriptor players(ends[0]);
    FileDescriptor ours(ends[1]);
    for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
    signal(SIGPIPE, SIG_IGN);
    pid_t process = -1;
    const ChildStreams streams = {.input = players.get(), .error = kInherited};
    if (const int error = SpawnProgram(program, known.arguments, streams, process); error != 0)
      return absl::ErrnoToStatus(error, StrCat("cannot start ", program.string()));
    return std::unique_ptr<Player>(new Player(known.name, std::move(ours), process));
  }
  return NotFound(
      "--play: no player is in PATH; install one of: ",
      absl::StrJoin(KnownPlayers(), ", ",
                    [](std::string* out, const KnownPlayer& player) { out->append(player.name); }));
}

Player::~Player() {
  Stop();
  input_.Close();
  Wait().IgnoreError();
}

absl::Status Player::Wait() {
  // The process is not reaped before `has_ended_` is set, so Stop cannot signal another one.
  siginfo_t info = {};
  while (waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOWAIT) != 0) {
    if (errno != EINTR) return absl::OkStatus();  // its end has been told before
  }
  MutexLock lock(mu_);
  has_ended_ = true;
  int status = 0;
  waitpid(process_, &status, 0);
  if (WIFEXITED(status)) {
    if (WEXITSTATUS(status) == 0) return absl::OkStatus();
    return Unavailable("--play: ", name_, " ended with status ", WEXITSTATUS(status));
  }
  if (stopped_) return absl::OkStatus();
  return Unavailable("--play: ", name_, " was ended by signal ", WTERMSIG(status));
}

void Player::Stop() {
  MutexLock lock(mu_);
  if (has_ended_) return;
  stopped_ = true;
  kill(-process_, SIGTERM);
}

}  // namespace millrace
