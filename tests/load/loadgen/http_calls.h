#pragma once

#include <memory>

#include "tests/load/loadgen/calls.h"
#include "tests/load/loadgen/options.h"
#include "tests/load/loadgen/outputs.h"
#include "tests/load/loadgen/recorder.h"

namespace millrace::loadgen {

// The same for the methods over HTTP/1.1, on connections that stay open: as many as there are calls
// in flight. One thread of its own reads all answers, so that a call costs the generator little
// more than its system calls. Statuses of HTTP are counted as those of gRPC that stand for them.
std::unique_ptr<Caller> MakeHttpCaller(const Options& options, Recorder& recorder,
                                       Outputs& outputs);

}  // namespace millrace::loadgen
