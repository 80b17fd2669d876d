#pragma once

#include <functional>
#include <thread>

namespace millrace::server {

// What the process is told by signals. A thread of its own acts on them, whatever the main thread
// does. SIGTERM and SIGINT stop, SIGHUP reads files again; SIGPIPE, SIGUSR1 and SIGUSR2 are
// ignored. One at a time in a process.
class SignalWatch {
 public:
  // Called on the thread; what takes long holds up the next signal.
  struct Handlers {
    // Each SIGTERM and SIGINT; also a SIGHUP that comes because the terminal of a program in the
    // foreground is gone, unless nohup has started it.
    std::function<void(int signal)> stop;
    // SIGHUP; may be empty.
    std::function<void()> reload = nullptr;
  };

  explicit SignalWatch(Handlers handlers);
  // Gives the signals back to the system's defaults.
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  void Run();
  void Tell(int signal);

  const Handlers handlers_;
  int read_end_ = -1;
  bool ends_with_terminal_ = false;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace millrace::server
