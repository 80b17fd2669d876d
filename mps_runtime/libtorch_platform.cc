#include "mps_runtime/libtorch_platform.h"

#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>

#include <string>

#include "mps_runtime/base/log_sink.h"
#include "mps_runtime/runtime.h"

namespace millrace::runtime {
namespace {

class SinkWarningHandler final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    const std::string& text = warning.msg();
    SendToLog(LogSeverity::kWarning, "libtorch: " + text.substr(0, text.find('\n')));
  }
};

// Sends libtorch's warnings on this thread to the log sink, for the rest of the thread's life. By
// default libtorch prints them to standard error.
void SendTorchWarningsToLog() {
  static auto* const handler = new SinkWarningHandler;  // threads may outlive what is static
  c10::WarningUtils::set_warning_handler(handler);
}

class LibtorchThread final : public PlatformThread {
 public:
  LibtorchThread() { SendTorchWarningsToLog(); }

  void EnterForward() override { inference_mode_.emplace(); }
  void LeaveForward() noexcept override { inference_mode_.reset(); }

 private:
  std::optional<c10::InferenceMode> inference_mode_;
};

class LibtorchPlatform final : public Platform {
 public:
  Provenance Identify(const std::string& required) const override {
    Provenance provenance = ReadLibtorchProvenance();
    CheckLibtorch(provenance, required);
    return provenance;
  }
  std::unique_ptr<Backend> MakeBackend(std::optional<DeviceType> device) const override {
    return runtime::MakeBackend(device);
  }
  std::unique_ptr<PlatformThread> EnterThread() const override {
    return std::make_unique<LibtorchThread>();
  }
};

}  // namespace

const Platform& Libtorch() {
  static const LibtorchPlatform platform;
  return platform;
}

DeviceFacts Runtime::Describe(std::optional<DeviceType> device,
                              const std::string& require_libtorch) {
  return Describe(device, require_libtorch, Libtorch());
}

std::unique_ptr<Runtime> Runtime::Bootstrap(const RuntimeOptions& options) {
  return Bootstrap(options, Libtorch());
}

}  // namespace millrace::runtime
