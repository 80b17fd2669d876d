#include "server/client/interruption.h"

#include <csignal>
#include <utility>

namespace millrace {
namespace {

// Wakes the thread at the end; nothing else sends it.
constexpr int kEnd = SIGUSR2;

sigset_t Signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, kEnd);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now = {};
    // A signal that the caller ignores, as nohup does with SIGHUP, stays ignored.
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaddset(&signals, signal);
  }
  return signals;
}

}  // namespace

Interruption::Interruption() {
  const sigset_t signals = Signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void Interruption::OnSignal(std::function<void()> stop) {
  stop_ = std::move(stop);
  thread_ = std::thread([this] { Wait(); });
}

void Interruption::Wait() {
  const sigset_t signals = Signals();
  int signal = 0;
  if (sigwait(&signals, &signal) != 0 || signal == kEnd) return;
  signal_ = signal;
  stop_();
  // The next one has its usual effect, on this thread.
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, kEnd);
  pthread_sigmask(SIG_SETMASK, &end, nullptr);
  sigwait(&end, &signal);
}

void Interruption::Stop() {
  if (thread_.joinable()) {
    pthread_kill(thread_.native_handle(), kEnd);
    thread_.join();
  }
  const sigset_t signals = Signals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace millrace
