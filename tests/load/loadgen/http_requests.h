#pragma once

#include <grpcpp/support/status.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tests/load/loadgen/http_response.h"
#include "tests/load/loadgen/options.h"
#include "tests/load/loadgen/outputs.h"
#include "tests/load/loadgen/recorder.h"

namespace millrace::loadgen {

// The requests of a method over HTTP, with their heads, in the order of the texts.
std::vector<std::string> MakeHttpRequests(const Options& options);

// The status of gRPC that stands for an answer's, with the answer as its message.
grpc::Status StatusOf(const HttpResponse& response);

// Checks an answer of status 200 to the request with that index, and counts what it brought.
void CheckHttpAnswer(const Options& options, size_t input, const HttpResponse& response,
                     Recorder& recorder, Outputs& outputs);

}  // namespace millrace::loadgen
