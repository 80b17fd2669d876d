#include "server/rpc/grpc_log.h"

#include <grpc/support/log.h>
#include <grpcpp/version_info.h>

#include <chrono>
#include <cstdio>
#include <string_view>

#include "mps_runtime/base/clock.h"
#include "server/logging/line_limiter.h"
#include "server/logging/logging.h"

namespace millrace::server {

// Later versions log through Abseil.
#if GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR < 65

namespace {

constexpr int kLinesAtOnce = 10;
constexpr Duration kLineInterval = std::chrono::seconds(1);
// A line may quote a client's whole message.
constexpr size_t kLongestMessage = 500;
constexpr std::string_view kFatal = "assertion failed";

void Log(gpr_log_func_args* args) {
  static logging::LineLimiter lines(kLinesAtOnce, kLineInterval);
  const std::string_view message = args->message;
  // gRPC aborts right after this line, before the log's thread would write it.
  if (message.starts_with(kFatal)) std::fprintf(stderr, "grpc: %s\n", args->message);
  const LogLevel level =
      args->severity == GPR_LOG_SEVERITY_ERROR ? LogLevel::kWarning : LogLevel::kDebug;
  if (!logging::Enabled(level)) return;
  const auto held_back = lines.Pass();
  if (!held_back) return;
  const std::string_view path = args->file;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  logging::Log(level, "grpc",
               {{"reason", message.substr(0, kLongestMessage)},
                {"file", file},
                {"line", args->line},
                {"held_back", *held_back}});
}

}  // namespace

void RouteGrpcLog() { gpr_set_log_function(Log); }

#else

void RouteGrpcLog() {}

#endif

}  // namespace millrace::server
