#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "models/core/model.h"

namespace millrace::toy {

// A batch that answers each request in one step, without a forward.
class OneStep final : public models::Batch {
 public:
  using Answer = std::function<models::Output(const models::Input&)>;

  OneStep(std::span<models::Request* const> requests, Answer answer)
      : requests_(requests.begin(), requests.end()), answer_(std::move(answer)) {}

  void Forward(runtime::WorkerContext& /*context*/) override {}
  void Complete() override {
    for (models::Request* request : requests_) {
      request->Emit(answer_(request->input()));
      request->Finish(absl::OkStatus());
    }
  }

 private:
  const std::vector<models::Request*> requests_;
  const Answer answer_;
};

}  // namespace millrace::toy
