#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::runtime {

// The ways in which a child process can end.
enum class ChildOutcome { kOk, kWrong, kError, kCrashed, kHung };

// Returns "ok", "wrong", "error", "crash" or "hang".
std::string_view ToString(ChildOutcome outcome);

// Exit statuses by which a child reports its finding; any status other than these and 0 is an error
// too.
inline constexpr int kChildWrong = 3;
inline constexpr int kChildError = 4;

struct ChildOptions {
  std::chrono::milliseconds watchdog = std::chrono::minutes(2);
  // Called about twenty times a second; when it returns true, the child is killed at once.
  std::function<bool()> stop = nullptr;
  // Keeps the last line that the child writes to its standard error; otherwise the child shares
  // this process's standard error.
  bool capture_last_line = false;
};

struct ChildResult {
  ChildOutcome outcome = ChildOutcome::kOk;  // also kHung when it was stopped
  int exit_status = 0;                       // valid unless it crashed or hung
  int signal = 0;         // the signal that ended it when it crashed, from any sender
  std::string last_line;  // printable, at most kMaxLastLine bytes
};
inline constexpr size_t kMaxLastLine = 500;

// Runs this program again with these arguments in a fresh process, because a device or its driver
// may crash or hang; the caller learns which, and continues. Waits until the child has ended. At
// the end of the watchdog it is killed with all processes that it started. A child gets no standard
// input and no standard output. May be called on any thread, several at once, but not in a process
// that ignores SIGCHLD. Throws std::system_error when no child can be started. It costs a process
// start and the loading of the program's libraries.
//
// The child calls EndWithParent first, and must be prepared to be ended at any time.
ChildResult RunChild(const std::vector<std::string>& arguments, const ChildOptions& options);

// Must be called in a child of RunChild, before anything that could hang: from now on the child and
// the processes that it started end when the parent does, in whatever way it ends. Takes over
// standard input and a thread.
void EndWithParent();

// Describes the outcome with its details, such as "crash (SIGABRT): failed assertion" or "wrong".
std::string Describe(const ChildResult& result);

}  // namespace millrace::runtime
