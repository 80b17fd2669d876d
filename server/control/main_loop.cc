#include "server/control/main_loop.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <utility>

namespace millrace::server {
namespace {

// A signal handler may only touch these. The pipe wakes the loop.
std::atomic<int> signal_count{0};
std::atomic<int> last_signal{0};
std::atomic<int> wake_read{-1};
std::atomic<int> wake_write{-1};

void Wake() {
  const int saved = errno;
  const char byte = 0;
  // A full pipe wakes just as well.
  [[maybe_unused]] const ssize_t written = write(wake_write.load(), &byte, 1);
  errno = saved;
}

void OnSignal(int signal) {
  last_signal.store(signal);
  signal_count.fetch_add(1);
  Wake();
}

// Waits for a wake-up or the end of the time, and empties the pipe.
void Sleep(std::chrono::milliseconds time) {
  pollfd wait{.fd = wake_read.load(), .events = POLLIN, .revents = 0};
  if (poll(&wait, 1, static_cast<int>(time.count())) <= 0) return;
  char bytes[256];
  while (read(wake_read.load(), bytes, sizeof(bytes)) > 0) {
  }
}

}  // namespace

MainLoop::MainLoop() {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("cannot make a pipe for signals");
  for (const int end : ends) {
    fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK);
    fcntl(end, F_SETFD, FD_CLOEXEC);
  }
  wake_read.store(ends[0]);
  wake_write.store(ends[1]);
  signal_count.store(0);
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  action.sa_handler =
      SIG_IGN;  // a client that hangs up is an error of its write, not a reason to die
  sigaction(SIGPIPE, &action, nullptr);
}

MainLoop::~MainLoop() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  close(wake_write.exchange(-1));
  close(wake_read.exchange(-1));
}

int MainLoop::signals() { return signal_count.load(); }

void MainLoop::Post(std::function<void()> task) {
  {
    MutexLock lock(mu_);
    if (tasks_closed_) return;
    tasks_.push_back(std::move(task));
  }
  Wake();
}

void MainLoop::CloseTasks() {
  std::deque<std::function<void()>> dropped;  // destroyed outside the lock: they may answer calls
  MutexLock lock(mu_);
  tasks_closed_ = true;
  dropped.swap(tasks_);
  lock.Unlock();
}

void MainLoop::RunTasks() {
  while (signal_count.load() == 0) {
    std::function<void()> task;
    {
      MutexLock lock(mu_);
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

int MainLoop::RunUntilSignal() {
  while (signal_count.load() == 0) {
    Sleep(std::chrono::hours(1));
    RunTasks();
  }
  return last_signal.load();
}

bool MainLoop::WaitWithoutSignal(std::chrono::milliseconds time) {
  const int before = signal_count.load();
  const auto end = std::chrono::steady_clock::now() + time;
  while (signal_count.load() == before) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return true;
    Sleep(left);
  }
  return false;
}

}  // namespace millrace::server
