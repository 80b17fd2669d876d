#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace millrace {

// Special values of a descriptor in ChildStreams.
inline constexpr int kDevNull = -1;
inline constexpr int kInherited = -2;

// The standard streams of a child: descriptors of this process that are greater than 2, or one of
// the values above.
struct ChildStreams {
  int input = kDevNull;
  int output = kDevNull;
  int error = kDevNull;
};

// Starts a program in a process group of its own, which can be killed as a whole and does not get
// the terminal's Ctrl-C. Its signals are as at the start of a program, whatever the calling thread
// blocks, and it inherits only those descriptors that are not closed on exec. Does not search PATH.
// Returns 0 and sets `child`, or returns an errno value. Thread-safe.
int SpawnProgram(const std::string& program, const std::vector<std::string>& arguments,
                 const ChildStreams& streams, pid_t& child);

}  // namespace millrace
