#pragma once

#include <chrono>

namespace millrace::server {

// Sets for how long the allocator keeps memory that was freed before it goes back to the system.
// Zero also gives back what it keeps now. Does nothing with an allocator that has no such setting.
// Thread-safe.
void KeepFreedMemoryFor(std::chrono::milliseconds time);

}  // namespace millrace::server
