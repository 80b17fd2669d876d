#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "models/core/model.h"
#include "models/core/request.h"
#include "tests/fakes/fake_worker_context.h"

// These run requests as a worker does.
namespace millrace::testing {

// Keeps the outputs of a request, which all are of one kind.
template <typename Part>
class Collector final : public models::OutputSink {
 public:
  void Emit(models::Output output) override { parts.push_back(std::get<Part>(std::move(output))); }

  std::vector<Part> parts;
};

// Runs one step of the requests, which may need no forward.
inline void RunStep(const models::Model& model, const std::vector<models::Request*>& requests) {
  models::FakeWorkerContext context;
  const std::unique_ptr<models::Batch> batch = model.Prepare(requests);
  if (batch == nullptr) return;
  batch->Forward(context);
  batch->Complete();
}

// Runs steps of all requests that are left until none is.
inline void RunToEnds(const models::Model& model, std::vector<models::Request*> requests) {
  const auto ended = [](const models::Request* request) { return request->outcome().has_value(); };
  while (std::erase_if(requests, ended), !requests.empty()) RunStep(model, requests);
}

// Runs a request to its end and returns its outcome.
inline absl::Status RunToEnd(const models::Model& model, models::Request& request) {
  RunToEnds(model, {&request});
  return *request.outcome();
}

}  // namespace millrace::testing
