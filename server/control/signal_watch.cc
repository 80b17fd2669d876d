#include "server/control/signal_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

#include "mps_runtime/base/check.h"
#include "mps_runtime/base/file.h"

namespace millrace::server {
namespace {

constexpr unsigned char kEnd = 0;  // no signal has this number

// The only variable that a signal handler may touch.
std::atomic<int> write_end{-1};

void Send(unsigned char number) {
  // The write does not block: when thousands of signals wait already, one more adds nothing.
  [[maybe_unused]] const ssize_t written = write(write_end.load(), &number, 1);
}

void OnSignal(int signal) {
  const int saved = errno;
  Send(static_cast<unsigned char>(signal));
  errno = saved;
}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

bool IsIgnored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool HasTerminal() {
  return FileDescriptor(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)).get() >= 0;
}

}  // namespace

SignalWatch::SignalWatch(Handlers handlers) : handlers_(std::move(handlers)) {
  int ends[2];
  MILLRACE_CHECK(pipe(ends) == 0, "cannot make a pipe for signals");
  for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFL, fcntl(ends[1], F_GETFL) | O_NONBLOCK);
  read_end_ = ends[0];
  write_end.store(ends[1]);
  ends_with_terminal_ = !IsIgnored(SIGHUP) && HasTerminal();
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) Handle(signal, OnSignal);
  // A client that hangs up shows as an error of the write.
  Handle(SIGPIPE, SIG_IGN);
  thread_ = std::thread([this] { Run(); });
}

SignalWatch::~SignalWatch() {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) Handle(signal, SIG_DFL);
  Send(kEnd);
  thread_.join();
  close(write_end.exchange(-1));
  close(read_end_);
}

void SignalWatch::Run() {
  for (;;) {
    unsigned char number = kEnd;
    const ssize_t got = read(read_end_, &number, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1 || number == kEnd) return;
    Notify(number);
  }
}

void SignalWatch::Notify(int signal) {
  if (signal == SIGUSR1 || signal == SIGUSR2) {
    if (handlers_.log_details != nullptr) handlers_.log_details(signal == SIGUSR1);
  } else if (signal != SIGHUP || (ends_with_terminal_ && !HasTerminal())) {
    handlers_.stop(signal);
  } else if (handlers_.reload != nullptr) {
    handlers_.reload();
  }
}

}  // namespace millrace::server
