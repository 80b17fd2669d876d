#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

#include "millrace/v1/admin.grpc.pb.h"
#include "models/core/strings.h"
#include "mps_runtime/base/mutex.h"
#include "server/client/client.h"
#include "server/client/connection.h"
#include "server/client/interruption.h"
#include "server/client/trace_file.h"
#include "server/config/command_line.h"

namespace millrace {
namespace {

// Short enough for the server to keep the steps of the null model meanwhile.
constexpr std::chrono::milliseconds kInterval{50};

}  // namespace

int RunTrace(const TraceCommand& command) {
  Mutex mu;
  grpc::ClientContext* call = nullptr;  // the one that runs, under mu
  if (absl::Status status = CheckWritable(command.output); !status.ok())
    return Fail(std::string(status.message()));
  Interruption interruption;
  const auto channel = Connect(command.client);
  if (!channel.ok()) return Fail(std::string(channel.status().message()));
  const auto stub = v1::AdminService::NewStub(*channel);
  v1::GetTimelineRequest request;
  v1::GetTimelineResponse response;
  interruption.OnSignal([&] {
    MutexLock lock(mu);
    if (call != nullptr) call->TryCancel();
  });
  const auto run = [&](grpc::ClientContext* context) {
    MutexLock lock(mu);
    call = context;
    if (context != nullptr && interruption.signal() != 0) context->TryCancel();
  };
  const auto next = [&] {
    grpc::ClientContext context;
    Prepare(command.client, context);
    response.Clear();
    run(&context);
    grpc::Status status = stub->GetTimeline(&context, request, &response);
    run(nullptr);
    request.clear_seen();
    for (const auto& worker : response.workers()) request.add_seen(worker.next());
    return status;
  };
  grpc::Status status = next();
  // As a shell reports a command that a signal has ended.
  const auto interrupted = [&] { return 128 + interruption.signal(); };
  if (interruption.signal() != 0) return interrupted();
  if (!status.ok()) return Fail(Explain(status, command.client));

  std::ofstream file;
  const bool to_file = command.output != "-";
  if (to_file) {
    file.open(command.output, std::ios::binary | std::ios::trunc);
    if (!file) return Fail(StrCat(command.output, ": cannot be written: ", std::strerror(errno)));
  }
  std::ostream& out = to_file ? file : std::cout;
  TraceFile trace(out, response.workers_size(), response.now_ns());
  const int64_t end = response.now_ns() + int64_t{command.seconds} * 1'000'000'000;
  while (response.now_ns() < end && interruption.signal() == 0) {
    std::this_thread::sleep_for(kInterval);  // the server gathers steps meanwhile
    status = next();
    if (!status.ok()) break;
    trace.Add(response);
  }
  trace.Close();
  if (!out.flush()) return Fail(StrCat(command.output, ": cannot be written"));
  std::fprintf(
      stderr, "%s\n",
      StrCat(trace.steps(), " steps",
             trace.lost() == 0 ? "" : StrCat(", and ", trace.lost(), " too many to be kept"),
             to_file ? StrCat(" in ", command.output,
                              "; open it in https://ui.perfetto.dev or "
                              "chrome://tracing")
                     : "")
          .c_str());
  if (interruption.signal() != 0) return interrupted();
  return status.ok() ? kExitOk : Fail(Explain(status, command.client));
}

}  // namespace millrace
