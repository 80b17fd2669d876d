#include "server/metrics/model_metrics.h"

namespace millrace::server {

std::string_view ToString(Method method) {
  static constexpr std::array<std::string_view, kMethods> kNames = {
      "ModelInfer",           "Translate",         "StreamTranslate",
      "Synthesize",           "StreamSynthesize",  "SynthesizeTextStream",
      "HttpSpeech",           "HttpTranslate",     "HttpInfer",
      "WyomingSpeech",        "WyomingTextStream", "RivaSynthesize",
      "RivaSynthesizeOnline", "RivaTranslateText", "ElevenLabsTextStream",
      "VllmOmniTextStream"};
  return kNames[static_cast<size_t>(method)];
}

models::Task TaskOf(Method method) {
  switch (method) {
    case Method::kModelInfer:
    case Method::kHttpInfer:
      return models::Task::kInfer;
    case Method::kTranslate:
    case Method::kStreamTranslate:
    case Method::kHttpTranslate:
    case Method::kRivaTranslateText:
      return models::Task::kTranslation;
    case Method::kSynthesize:
    case Method::kStreamSynthesize:
    case Method::kSynthesizeTextStream:
    case Method::kHttpSpeech:
    case Method::kWyomingSpeech:
    case Method::kWyomingTextStream:
    case Method::kRivaSynthesize:
    case Method::kRivaSynthesizeOnline:
    case Method::kElevenLabsTextStream:
    case Method::kVllmOmniTextStream:
      return models::Task::kSynthesis;
  }
  return models::Task::kInfer;
}

std::string_view ToString(Refusal refusal) {
  static constexpr std::array<std::string_view, kRefusals> kNames = {
      "queue_full", "too_many", "draining", "deadline", "never_fits", "key_limit", "loading"};
  return kNames[static_cast<size_t>(refusal)];
}

std::string_view StatusCodeName(absl::StatusCode code) {
  static constexpr std::array<std::string_view, kStatusCodes> kNames = {"OK",
                                                                        "CANCELLED",
                                                                        "UNKNOWN",
                                                                        "INVALID_ARGUMENT",
                                                                        "DEADLINE_EXCEEDED",
                                                                        "NOT_FOUND",
                                                                        "ALREADY_EXISTS",
                                                                        "PERMISSION_DENIED",
                                                                        "RESOURCE_EXHAUSTED",
                                                                        "FAILED_PRECONDITION",
                                                                        "ABORTED",
                                                                        "OUT_OF_RANGE",
                                                                        "UNIMPLEMENTED",
                                                                        "INTERNAL",
                                                                        "UNAVAILABLE",
                                                                        "DATA_LOSS",
                                                                        "UNAUTHENTICATED"};
  const auto index = static_cast<size_t>(code);
  return index < kNames.size() ? kNames[index] : "UNKNOWN";
}

bool IsWatched(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kDataLoss:
      return true;
    default:
      return false;
  }
}

bool IsServersFault(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDataLoss:
      return true;
    default:
      return false;
  }
}

void ModelMetrics::CountRequest(Method method, absl::StatusCode code, Duration took) {
  const auto row = static_cast<size_t>(method);
  const auto column = static_cast<size_t>(code);
  requests[row][column < kStatusCodes ? column : static_cast<size_t>(absl::StatusCode::kUnknown)]
      ->Increment();
  request_seconds[row]->Observe(Seconds(took));
}

}  // namespace millrace::server
