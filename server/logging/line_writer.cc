#include "server/logging/line_writer.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <string_view>
#include <utility>

#include "mps_runtime/base/mutex.h"

namespace millrace::logging {
namespace {

using Clock = std::chrono::steady_clock;

// Writes the whole text, and waits if the descriptor was made non-blocking. Returns false if it
// will never be read.
bool WriteWhole(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd wait{.fd = descriptor, .events = POLLOUT, .revents = 0};
      poll(&wait, 1, -1);
    } else if (written == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

struct LineWriter::State {
  explicit State(Options given) : options(std::move(given)) {}

  const Options options;
  Mutex mu;
  CondVar changed;  // lines were added or written, or the end has come
  std::deque<std::string> lines MILLRACE_GUARDED_BY(mu);
  size_t bytes MILLRACE_GUARDED_BY(mu) = 0;      // bytes in the lines
  uint64_t lost MILLRACE_GUARDED_BY(mu) = 0;     // lines lost since the last report
  uint64_t written MILLRACE_GUARDED_BY(mu) = 0;  // lines written so far
  bool closing MILLRACE_GUARDED_BY(mu) = false;
  bool ended MILLRACE_GUARDED_BY(mu) = false;
};

LineWriter::LineWriter(Options options)
    : state_(std::make_shared<State>(std::move(options))),
      thread_([state = state_] { Run(*state); }) {}

LineWriter::~LineWriter() { Close(std::chrono::milliseconds(0)); }

void LineWriter::Write(std::string line) {
  State& s = *state_;
  MutexLock lock(s.mu);
  if (s.closing) return;
  if (s.lines.empty()) s.changed.NotifyAll();
  s.bytes += line.size();
  s.lines.push_back(std::move(line));
  while (s.lines.size() > s.options.max_lines ||
         (s.bytes > s.options.max_bytes && s.lines.size() > 1)) {
    s.bytes -= s.lines.front().size();
    s.lines.pop_front();
    ++s.lost;
  }
}

void LineWriter::Close(std::chrono::milliseconds patience) {
  State& s = *state_;
  MutexLock lock(s.mu);
  s.closing = true;
  s.changed.NotifyAll();
  const Clock::time_point end = Clock::now() + 5 * patience;
  Clock::time_point stalled = Clock::now() + patience;
  for (uint64_t seen = s.written; !s.ended; seen = s.written) {
    const bool in_time = s.changed.WaitUntil(s.mu, std::min(stalled, end));
    if (s.written != seen) stalled = Clock::now() + patience;
    if (!in_time && Clock::now() >= std::min(stalled, end)) break;
  }
  if (!thread_.joinable()) return;
  s.ended ? thread_.join() : thread_.detach();
}

void LineWriter::Run(State& s) {
  MutexLock lock(s.mu);
  for (;;) {
    while (s.lines.empty() && !s.closing) s.changed.Wait(s.mu);
    if (s.lines.empty()) break;
    std::string line = std::move(s.lines.front());
    s.lines.pop_front();
    s.bytes -= line.size();
    if (s.lost != 0 && s.options.describe_lost != nullptr)
      line.insert(0, s.options.describe_lost(std::exchange(s.lost, 0)));
    lock.Unlock();
    WriteWhole(s.options.descriptor, line);
    lock.Lock();
    ++s.written;
    s.changed.NotifyAll();
  }
  s.ended = true;
  s.changed.NotifyAll();
}

}  // namespace millrace::logging
