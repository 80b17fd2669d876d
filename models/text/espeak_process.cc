#include "models/text/espeak_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <random>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "mps_runtime/base/spawn.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxOutputBytes = size_t{1} << 20;

#ifdef MSG_NOSIGNAL
constexpr int kSendFlags = MSG_NOSIGNAL;
#else
constexpr int kSendFlags = 0;  // macOS has a socket option instead
#endif

// Returns a random line that marks the end of an answer and that no text can foresee. espeak-ng
// writes the phonemes of these letters in IPA as the letters themselves, in every language and in
// any order (unlike n, which changes before k), so that a line of them in [[ ]] comes back
// unchanged.
std::string MakeMark() {
  constexpr std::string_view kLetters = "ptkf";
  std::random_device random;
  std::string mark;
  for (uint64_t bits = (uint64_t{random()} << 32) | random(); mark.size() < 32; bits >>= 2)
    mark += kLetters[bits & 3];
  return mark;
}

// Makes a pair of connected sockets that no other child inherits.
absl::Status MakeSockets(std::array<int, 2>& sockets) {
#ifdef SOCK_CLOEXEC
  constexpr int kType = SOCK_STREAM | SOCK_CLOEXEC;
#else
  constexpr int kType = SOCK_STREAM;
#endif
  if (socketpair(AF_UNIX, kType, 0, sockets.data()) != 0)
    return absl::ErrnoToStatus(errno, "espeak-ng: socketpair");
  for (int socket : sockets) fcntl(socket, F_SETFD, FD_CLOEXEC);
  fcntl(sockets[0], F_SETFL, O_NONBLOCK);
#ifdef SO_NOSIGPIPE
  const int on = 1;
  setsockopt(sockets[0], SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
#endif
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<EspeakProcess>> EspeakProcess::Start(const Options& options) {
  std::array<int, 2> sockets = {-1, -1};
  MILLRACE_RETURN_IF_ERROR(MakeSockets(sockets));
  const std::string program = options.program.string();
  // -b 1: the input is UTF-8 whatever the locale. -s 430: even when quiet espeak-ng makes audio,
  // less of it at high speed, and the phonemes are the same. Without a text it reads standard input
  // line by line.
  std::vector<std::string> flags = {"--ipa", "-q", "-b", "1", "-s", "430", "-v", options.voice};
  if (!options.tie.empty()) flags.push_back(StrCat("--tie=", options.tie));
  pid_t pid = 0;
  const int error = SpawnProgram(program, flags, {.input = sockets[1], .output = sockets[1]}, pid);
  close(sockets[1]);
  if (error != 0) {
    close(sockets[0]);
    return Unavailable("cannot start ", program, ": ", std::strerror(error));
  }
  return std::unique_ptr<EspeakProcess>(new EspeakProcess(pid, sockets[0]));
}

EspeakProcess::~EspeakProcess() {
  close(socket_);
  if (!Running()) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool EspeakProcess::Running() {
  if (pid_ == 0) return false;
  const pid_t ended = waitpid(pid_, nullptr, WNOHANG);
  // ECHILD: the process was reaped elsewhere, so its number may by now belong to another process.
  if (ended == pid_ || (ended < 0 && errno == ECHILD)) pid_ = 0;
  return pid_ != 0;
}

absl::StatusOr<std::vector<std::string>> EspeakProcess::Translate(
    std::span<const std::string> lines, std::chrono::milliseconds timeout) {
  const std::string mark = MakeMark();
  std::string input;
  for (const std::string& line : lines) absl::StrAppend(&input, line, "\n[[", mark, "]]\n");
  const std::string end = mark + "\n";
  std::string output;
  const Deadline deadline = std::chrono::steady_clock::now() + timeout;
  MILLRACE_RETURN_IF_ERROR(Exchange(input, end, lines.size(), deadline, output));

  std::vector<std::string> answers;
  size_t begin = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t found = output.find(end, begin);
    answers.push_back(output.substr(begin, found - begin));
    begin = found + end.size();
  }
  return answers;
}

// Writes and reads in turns, so that neither side waits for the other with a full buffer.
absl::Status EspeakProcess::Exchange(std::string_view input, std::string_view mark, size_t marks,
                                     Deadline deadline, std::string& output) {
  size_t seen = 0;
  size_t searched = 0;
  while (seen < marks || !input.empty()) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return Unavailable("espeak-ng did not answer in time");
    pollfd poller = {socket_, static_cast<short>(input.empty() ? POLLIN : POLLIN | POLLOUT), 0};
    if (poll(&poller, 1, static_cast<int>(left.count())) < 0 && errno != EINTR) {
      return Unavailable("espeak-ng: poll: ", std::strerror(errno));
    }
    if ((poller.revents & POLLOUT) != 0) {
      const ssize_t sent = send(socket_, input.data(), input.size(), kSendFlags);
      if (sent > 0) input.remove_prefix(static_cast<size_t>(sent));
      if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return absl::AbortedError("espeak-ng ended unexpectedly");
    }
    if ((poller.revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    std::array<char, 16384> buffer;
    const ssize_t received = recv(socket_, buffer.data(), buffer.size(), 0);
    if (received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR)) {
      return absl::AbortedError("espeak-ng ended unexpectedly");
    }
    if (received < 0) continue;
    output.append(buffer.data(), static_cast<size_t>(received));
    if (output.size() > kMaxOutputBytes) return Unavailable("espeak-ng answered far too much");
    for (size_t at = output.find(mark, searched); at != std::string::npos;
         at = output.find(mark, searched)) {
      ++seen;
      searched = at + mark.size();
    }
  }
  return absl::OkStatus();
}

}  // namespace millrace::models
