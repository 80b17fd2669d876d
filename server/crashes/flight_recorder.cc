#include "server/crashes/flight_recorder.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <variant>

namespace millrace::server {
namespace {

FlightRecord::Step* LastStep(FlightRecord& record, size_t lane) {
  if (lane >= record.lanes.size() || record.lanes[lane].steps == 0) return nullptr;
  FlightRecord::Lane& found = record.lanes[lane];
  return &found.kept[(found.steps - 1) % FlightRecord::kSteps];
}

void Describe(const models::InferInput& input, FlightRecord::Request& request) {
  for (const auto& tensor : input.inputs) request.bytes += tensor.data.size();
  if (input.inputs.empty()) return;
  const auto& shape = input.inputs.front().shape;
  request.dimensions =
      static_cast<uint32_t>(std::min<size_t>(shape.size(), FlightRecord::kDimensions));
  std::copy_n(shape.begin(), request.dimensions, request.shape.begin());
}

void Describe(const models::TranslateInput& input, FlightRecord::Request& request) {
  for (const auto& text : input.texts) request.bytes += text.size();
}

void Describe(const models::SynthesizeInput& input, FlightRecord::Request& request) {
  request.bytes = input.text.size();
}

}  // namespace

int64_t ToRecordTime(TimePoint time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

void FlightRecorder::Begin(size_t lane, std::string_view model, TimePoint now) {
  if (lane >= record_.lanes.size()) return;
  ++record_.lanes[lane].steps;
  FlightRecord::Step& step = *LastStep(record_, lane);
  step.begin_ns = ToRecordTime(now);
  step.end_ns = 0;
  step.requests = 0;
  const size_t size = std::min(model.size(), step.model.size() - 1);
  std::memcpy(step.model.data(), model.data(), size);
  step.model[size] = '\0';
}

void FlightRecorder::AddRequest(size_t lane, uint64_t id, const models::Input& input) {
  FlightRecord::Step* const step = LastStep(record_, lane);
  if (step == nullptr) return;
  if (step->requests < step->described.size()) {
    FlightRecord::Request& request = step->described[step->requests];
    request = {.id = id, .bytes = 0, .dimensions = 0, .shape = {}};
    std::visit([&](const auto& one) { Describe(one, request); }, input);
  }
  ++step->requests;
}

void FlightRecorder::End(size_t lane, TimePoint now) {
  if (FlightRecord::Step* const step = LastStep(record_, lane)) step->end_ns = ToRecordTime(now);
}

}  // namespace millrace::server
