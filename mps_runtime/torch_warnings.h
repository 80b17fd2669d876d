#pragma once

namespace millrace::runtime {

// Sends what libtorch warns of on this thread to the log sink; by itself it prints to standard
// error. For the rest of the thread's life.
void SendTorchWarningsToLog();

}  // namespace millrace::runtime
