#include "mps_runtime/base/check.h"

#include <cstdlib>
#include <string>

#include "mps_runtime/base/log_sink.h"

namespace millrace {

void FailCheck(const char* file, int line, const char* condition, std::string_view message) {
  const std::string_view path = file;
  std::string text = "check failed at " + std::string(path.substr(path.rfind('/') + 1)) + ":" +
                     std::to_string(line) + ": " + condition;
  if (!message.empty()) text.append(": ").append(message);
  SendToLog(LogSeverity::kFatal, text);
  std::abort();
}

}  // namespace millrace
