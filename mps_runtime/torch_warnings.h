#pragma once

namespace millrace::runtime {

// Sends libtorch's warnings on this thread to the log sink, for the rest of the thread's life. By
// default libtorch prints them to standard error.
void SendTorchWarningsToLog();

}  // namespace millrace::runtime
