#pragma once

#include <ATen/mps/MPSStream.h>

#include <functional>

namespace millrace::mps_standin {

class Graph;

// Encodes work to the stream's open command buffer, on its queue, as the device's operators do.
// `graph` is the graph that the work is, or null when it is a kernel or a copy.
void Submit(at::mps::MPSStream& stream, std::function<void()> work, Graph* graph = nullptr);
// Commits, waits and throws the stream's error, on its queue.
void CommitAndWait(at::mps::MPSStream& stream);

// Streams with work that has been encoded and has not completed, now and at most so far.
int StreamsUnderWay();
int MostStreamsUnderWay();
void ResetMostStreamsUnderWay();

// Objective-C autorelease pools that the calling thread has open.
int OpenAutoreleasePools();

}  // namespace millrace::mps_standin
