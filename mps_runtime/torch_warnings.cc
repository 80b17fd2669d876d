#include "mps_runtime/torch_warnings.h"

#include <c10/util/Exception.h>

#include <string>

#include "mps_runtime/base/log_sink.h"

namespace millrace::runtime {
namespace {

class SinkWarningHandler final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    const std::string& text = warning.msg();
    SendToLog(LogSeverity::kWarning, "libtorch: " + text.substr(0, text.find('\n')));
  }
};

}  // namespace

void SendTorchWarningsToLog() {
  static auto* const handler = new SinkWarningHandler;  // threads may outlive what is static
  c10::WarningUtils::set_warning_handler(handler);
}

}  // namespace millrace::runtime
