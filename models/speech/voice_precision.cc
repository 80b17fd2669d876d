#include "models/speech/voice_precision.h"

#include <algorithm>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/kernels/narrow_kernels.h"
#include "mps_runtime/base/log_sink.h"

namespace millrace::speech {
namespace {

using kernels::Precision;

// Returns why AUTO does not take int8; null if it does.
const char* WhyNotInt8(const VoicePrecision& precision, bool on_cpu, bool gains) {
  if (!on_cpu) return "int8 is for the CPU";
  if (!gains) return "this processor would hardly be faster in int8";
  if (precision.int8_distance_db <= 0) return "model.pbtxt has no int8_distance_db";
  if (precision.int8_distance_db > VoicePrecision::kGreatestInt8Distance)
    return "int8_distance_db is too large";
  return nullptr;
}

}  // namespace

absl::StatusOr<Precision> ChoosePrecision(const VoicePrecision& precision,
                                          const models::LoadContext& context,
                                          const std::string& model,
                                          std::initializer_list<kernels::Target> gaining) {
  const bool on_cpu =
      context.device == runtime::DeviceType::kCpu && context.shapes == models::ShapePolicy::kExact;
  if (!precision.asked) {
    const kernels::Target best = kernels::SupportedInt8Kernels().front()->target;
    const bool gains = std::find(gaining.begin(), gaining.end(), best) != gaining.end();
    const char* const why_not = WhyNotInt8(precision, on_cpu, gains);
    SendToLog(LogSeverity::kInfo,
              StrCat("model '", model, "': PRECISION_AUTO is ",
                     why_not == nullptr ? "int8, because this processor gains by it"
                                        : StrCat("float32, because ", why_not)));
    return why_not == nullptr ? Precision::kInt8 : Precision::kFloat32;
  }
  if (*precision.asked == Precision::kFloat32) return Precision::kFloat32;
  if (!on_cpu) {
    return InvalidArgument(
        "precision: PRECISION_INT8 is for the CPU; on a device none may be set, or "
        "PRECISION_FLOAT32 or PRECISION_AUTO");
  }
  if (!kernels::HasInt8DotProducts()) {
    return InvalidArgument(
        "precision: PRECISION_INT8 would be slower than float32 on this processor, which has no "
        "dot products of int8; allowed here are PRECISION_FLOAT32 and PRECISION_AUTO");
  }
  return Precision::kInt8;
}

}  // namespace millrace::speech
