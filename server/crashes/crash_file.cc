#include "server/crashes/crash_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

namespace millrace::server {
namespace {

// Beyond this no further steps are written. It leaves room for one more lane.
constexpr size_t kLaneBytes = size_t{8} << 10;

constexpr std::pair<int, std::string_view> kSignals[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
    {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},   {SIGKILL, "SIGKILL"},
    {SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"}, {SIGSYS, "SIGSYS"},
};

// The decimal digits of a number.
class Digits {
 public:
  explicit Digits(uint64_t number, unsigned base = 10) {
    do {
      text_[--at_] = "0123456789abcdef"[number % base];
      number /= base;
    } while (number != 0);
  }
  std::string_view text() const { return {text_.data() + at_, text_.size() - at_}; }

 private:
  std::array<char, 24> text_;
  size_t at_ = 24;
};

// Returns text up to its NUL, or to the end of its memory.
template <size_t size>
std::string_view Bounded(const std::array<char, size>& text) {
  return {text.data(), strnlen(text.data(), size)};
}

// A path in memory of a fixed size.
class Path {
 public:
  Path& operator<<(std::string_view part) {
    if (part.size() >= text_.size() - size_) {
      fits_ = false;
      return *this;
    }
    std::memcpy(text_.data() + size_, part.data(), part.size());
    size_ += part.size();
    text_[size_] = '\0';
    return *this;
  }
  const char* c_str() const { return text_.data(); }
  bool fits() const { return fits_; }

 private:
  std::array<char, 4096> text_ = {};
  size_t size_ = 0;
  bool fits_ = true;
};

// Writes JSON to a descriptor through a small buffer.
class JsonOutput {
 public:
  explicit JsonOutput(int file) : file_(file) {}

  // Text that is JSON already.
  JsonOutput& operator<<(std::string_view json) {
    for (const char c : json) Put(c);
    return *this;
  }
  JsonOutput& Number(int64_t number) {
    if (number < 0) Put('-');
    const auto size = static_cast<uint64_t>(number);
    return *this << Digits(number < 0 ? uint64_t{0} - size : size).text();
  }
  JsonOutput& Unsigned(uint64_t number) { return *this << Digits(number).text(); }
  // Milliseconds with three decimals.
  JsonOutput& Milliseconds(int64_t nanoseconds) {
    const int64_t us = std::max<int64_t>(nanoseconds, 0) / 1000;
    Number(us / 1000) << ".";
    for (int64_t digit = 100; digit > 0; digit /= 10) Put("0123456789"[us / digit % 10]);
    return *this;
  }
  // A string. What is not ASCII may be cut within a character, so it is replaced.
  JsonOutput& String(std::string_view text) {
    Put('"');
    for (const char c : text) {
      if (c == '"' || c == '\\') Put('\\');
      Put(c >= ' ' && c <= '~' ? c : '?');
    }
    Put('"');
    return *this;
  }
  JsonOutput& Hex(uint64_t number) { return *this << "\"0x" << Digits(number, 16).text() << "\""; }

  size_t written() const { return written_; }
  int Finish() {
    Flush();
    return error_;
  }

 private:
  void Put(char c) {
    if (size_ == buffer_.size()) Flush();
    buffer_[size_++] = c;
    ++written_;
  }
  void Flush() {
    size_t done = 0;
    while (error_ == 0 && done < size_) {
      const ssize_t got = write(file_, buffer_.data() + done, size_ - done);
      if (got > 0) {
        done += static_cast<size_t>(got);
      } else if (got == 0 || errno != EINTR) {
        error_ = got == 0 ? EIO : errno;
      }
    }
    size_ = 0;
  }

  const int file_;
  int error_ = 0;
  size_t written_ = 0;
  size_t size_ = 0;
  std::array<char, 1024> buffer_ = {};
};

void WriteCrashedThread(const CrashedThread& crash, JsonOutput& out) {
  out << ",\n \"signal\": ";
  out.String(NameOfSignal(crash.signal)) << ",\n \"address\": ";
  out.Hex(crash.address) << ",\n \"thread\": ";
  out.Number(crash.thread) << ",\n \"stack\": [";
  const size_t frames = std::min<size_t>(crash.frames, CrashedThread::kFrames);
  for (size_t i = 0; i < frames; ++i) {
    out << (i == 0 ? "\n  {\"address\": " : ",\n  {\"address\": ");
    out.Hex(crash.stack[i].address);
    if (const std::string_view symbol = Bounded(crash.stack[i].symbol); !symbol.empty()) {
      out << ", \"symbol\": ";
      out.String(symbol);
    }
    out << "}";
  }
  out << "]";
}

void WriteRequests(const FlightRecord::Step& step, JsonOutput& out) {
  const size_t described = std::min<size_t>(step.requests, FlightRecord::kRequests);
  for (size_t i = 0; i < described; ++i) {
    const FlightRecord::Request& request = step.described[i];
    out << (i == 0 ? "{" : ", {");
    if (request.id != 0) {
      out << "\"id\": ";
      out.Unsigned(request.id) << ", ";
    }
    out << "\"bytes\": ";
    out.Unsigned(request.bytes);
    const size_t dimensions = std::min<size_t>(request.dimensions, FlightRecord::kDimensions);
    for (size_t d = 0; d < dimensions; ++d) {
      out << (d == 0 ? ", \"shape\": [" : ", ");
      out.Number(request.shape[d]) << (d + 1 == dimensions ? "]" : "");
    }
    out << "}";
  }
}

// Returns the time between two, which may be any numbers.
int64_t Between(int64_t begin_ns, int64_t end_ns) {
  return static_cast<int64_t>(static_cast<uint64_t>(end_ns) - static_cast<uint64_t>(begin_ns));
}

void WriteStep(const FlightRecord::Step& step, size_t stream, int64_t now_ns, JsonOutput& out) {
  out << "{\"stream\": ";
  out.Unsigned(stream) << ", \"model\": ";
  out.String(Bounded(step.model)) << ", \"begun_ms_ago\": ";
  out.Milliseconds(Between(step.begin_ns, now_ns));
  if (step.end_ns == 0) {
    out << ", \"running\": true";
  } else {
    out << ", \"took_ms\": ";
    out.Milliseconds(Between(step.begin_ns, step.end_ns));
  }
  out << ", \"requests\": ";
  out.Unsigned(step.requests) << ", \"described\": [";
  WriteRequests(step, out);
  out << "]}";
}

// The newest step of each lane comes first.
void WriteFlight(const FlightRecord& flight, int64_t now_ns, JsonOutput& out) {
  out << ",\n \"steps\": [";
  bool first = true;
  for (size_t lane = 0; lane < flight.lanes.size(); ++lane) {
    const uint64_t steps = flight.lanes[lane].steps;
    if (out.written() > kMostCrashFileBytes - kLaneBytes) break;
    for (size_t i = 0; i < std::min<uint64_t>(steps, FlightRecord::kSteps); ++i) {
      out << (std::exchange(first, false) ? "\n  " : ",\n  ");
      WriteStep(flight.lanes[lane].kept[(steps - 1 - i) % FlightRecord::kSteps], lane + 1, now_ns,
                out);
    }
  }
  out << "]";
}

}  // namespace

std::string_view NameOfSignal(int signal) {
  for (const auto& [number, name] : kSignals) {
    if (number == signal) return name;
  }
  return {};
}

void SetToNow(CrashFacts& facts) {
  using std::chrono::milliseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  facts.unix_ms = std::chrono::duration_cast<milliseconds>(now).count();
  facts.record_ns = ToRecordTime(std::chrono::steady_clock::now());
}

int WriteCrashFile(std::string_view folder, const CrashFacts& facts, const CrashPage& page) {
  const Digits time(static_cast<uint64_t>(facts.unix_ms));
  const Digits pid(static_cast<uint64_t>(facts.pid));
  Path name;
  name << folder << "/" << kCrashFilePrefix << time.text() << "-" << pid.text();
  Path unfinished = name;
  name << kCrashFileSuffix;
  unfinished << ".part";
  if (!name.fits() || !unfinished.fits()) return ENAMETOOLONG;
  const int file =
      open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return errno;
  JsonOutput out(file);
  out << "{\"id\": ";
  out.String(facts.id) << ",\n \"time_unix_ms\": ";
  out.Number(facts.unix_ms) << ",\n \"version\": ";
  out.String(facts.version) << ",\n \"process\": ";
  out.String(facts.process) << ",\n \"pid\": ";
  out.Number(facts.pid) << ",\n \"cause\": ";
  out.String(facts.cause) << ",\n \"how\": ";
  out.String(facts.how);
  if (page.crash.signal != 0) WriteCrashedThread(page.crash, out);
  WriteFlight(page.flight, facts.record_ns, out);
  out << "}\n";
  int error = out.Finish();
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0 && rename(unfinished.c_str(), name.c_str()) != 0) error = errno;
  if (error != 0) unlink(unfinished.c_str());
  return error;
}

}  // namespace millrace::server
