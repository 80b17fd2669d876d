#include "server/scheduling/step_failure.h"

#include <chrono>
#include <cstddef>
#include <exception>

#include "models/core/errors.h"
#include "models/core/failure_text.h"
#include "mps_runtime/errors.h"
#include "server/logging/line_limiter.h"
#include "server/logging/logging.h"
#include "server/scheduling/input_field.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxLoggedFailure = 16 << 10;

absl::Status Failed(const models::Model& model, std::string_view why) {
  return Internal("model '", model.info().name,
                  "' failed on this request: ", why.empty() ? "unknown failure" : why);
}

}  // namespace

void LogModelFailure(const models::Model& model, std::string_view text) {
  static logging::LineLimiter limiter(/*burst=*/5, std::chrono::seconds(10));
  if (text.find('\n') == text.npos) return;  // the request's line has it
  if (const auto held_back = limiter.Pass()) {
    logging::Error("a model failed", {{"model", model.info().name},
                                      {"failure", text.substr(0, kMaxLoggedFailure)},
                                      {"held_back", *held_back}});
  }
}

absl::Status StepFailure(const models::Model& model) {
  try {
    throw;
  } catch (const runtime::ShapeRefused& refusal) {
    return InvalidArgument(InputField(model.info().task()), ": ", refusal.what());
  } catch (const std::exception& error) {
    LogModelFailure(model, error.what());
    return Failed(model, FailureCause(error.what()));
  } catch (...) {
    return Failed(model, "");
  }
}

}  // namespace millrace::server
