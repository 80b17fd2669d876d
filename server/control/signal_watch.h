#pragma once

#include <functional>
#include <thread>

namespace millrace::server {

// Receives the signals of the process. A thread of its own acts on them, whatever the main thread
// does. SIGTERM and SIGINT stop the server, SIGHUP reloads files, SIGUSR1 and SIGUSR2 change
// the level of the log; SIGPIPE is ignored. There is one in a process at a time.
class SignalWatch {
 public:
  // Called on the thread of the watch; a long call delays the next signal.
  struct Handlers {
    // Called for each SIGTERM and SIGINT, and for a SIGHUP that comes because the terminal of a
    // program in the foreground is gone, unless nohup has started it.
    std::function<void(int signal)> stop;
    // Called for SIGHUP; may be empty.
    std::function<void()> reload = nullptr;
    // Called with true for SIGUSR1 and with false for SIGUSR2; may be empty.
    std::function<void(bool details)> log_details = nullptr;
  };

  explicit SignalWatch(Handlers handlers);
  // Restores the system's defaults for the signals.
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  void Run();
  void Notify(int signal);

  const Handlers handlers_;
  int read_end_ = -1;
  bool ends_with_terminal_ = false;
  std::thread thread_;  // declared last: it uses everything above
};

}  // namespace millrace::server
