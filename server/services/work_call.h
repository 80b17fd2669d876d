#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "server/metrics/model_metrics.h"
#include "server/scheduling/admission.h"
#include "server/scheduling/job.h"
#include "server/scheduling/served_model.h"
#include "server/services/services.h"

namespace millrace::server {

// OK when no keys are asked for or the call carries a known one of that role (an admin may do
// everything); else UNAUTHENTICATED or PERMISSION_DENIED.
absl::Status Authenticate(const ApiKeyStore* keys, const grpc::CallbackServerContext& rpc,
                          Role role);

// What a decoded request asks for.
struct Work {
  std::shared_ptr<ServedModel> model;
  models::Input input;
  size_t characters = 0;  // of text taken in, where it counts at once
};

// The common part of the calls that do work: from the key check to the queue, and from the result
// to metrics and log. The reactors derive from it. Begin runs on a gRPC thread and never blocks;
// the end may come on any thread.
class WorkCall : public Reply {
 protected:
  WorkCall(Services& services, grpc::CallbackServerContext& rpc, Method method)
      : services_(services), rpc_(rpc), method_(method), start_(services.clock.Now()) {}

  // The request's work or what is wrong with it: checks what needs no model, finds the model.
  virtual absl::StatusOr<Work> Decode() = 0;

  // Takes the call to its queue; on failure ends it by Finish. Call it last: `this` may be gone by
  // the return.
  void Begin();
  // From OnCancel: tells the work to stop and takes it out of the queue.
  void CancelWork();
  // From Finish, before the reactor's own: adds trailers. Returns what to send.
  grpc::Status AddTrailers(const absl::Status& status);
  // Counts and logs the end of the call, once, after AddTrailers.
  void Record(const absl::Status& status);

  Services& services() const { return services_; }
  // Of the model once Decode succeeded, else the nameless ones.
  ModelMetrics& metrics() {
    return model_ != nullptr ? model_->metrics() : services_.no_model_metrics;
  }
  const ServedModel* model() const { return model_.get(); }
  TimePoint start() const { return start_; }
  grpc::CallbackServerContext& rpc() { return rpc_; }

 private:
  absl::Status Enqueue();
  TimePoint Deadline() const;

  Services& services_;
  grpc::CallbackServerContext& rpc_;
  const Method method_;
  const TimePoint start_;
  // Set in Begin, before any other thread sees this.
  std::shared_ptr<ServedModel> model_;
  Ticket ticket_;
  std::string request_id_;  // made when it is first needed
};

}  // namespace millrace::server
