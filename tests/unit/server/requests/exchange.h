#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/frontends/kserve/infer_service.h"
#include "server/frontends/millrace/synthesis_service.h"
#include "server/frontends/millrace/translation_service.h"
#include "server/frontends/riva/riva_synthesis_service.h"
#include "server/metrics/model_metrics.h"
#include "tests/fakes/fake_clock.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {

// A way in which requests reach the server and replies leave it.
struct Kind {
  std::string name;
  Method method = Method::kModelInfer;
  bool is_http = false;
  bool streams = false;     // outputs leave the server while others are made
  bool takes_text = false;  // the client sends a stream of text
  bool pivots = false;      // a second model goes on with what "m" gives
  bool sends_events = false;
};

std::vector<Kind> AllKinds();
std::vector<Kind> StreamingKinds();
// Names the cases for INSTANTIATE_TEST_SUITE_P.
inline std::string NameOf(const ::testing::TestParamInfo<Kind>& info) { return info.param.name; }

// A model's work for any kind: one output for a step, the last of them with the end.
struct Steps {
  size_t count = 1;
  size_t bytes = 100;  // for each output, or samples
  // Called when the client is too slow for another step, before the job is parked.
  std::function<void()> suspend = {};

  void operator()(models::Request& request) const;
};

// One request with its client. One thread begins it and runs it; the others' functions may be
// called on any thread.
class Exchange {
 public:
  virtual ~Exchange() = default;
  // Hands the request to the server. Over gRPC it may run on a thread of its own.
  virtual void Begin() = 0;
  // Plays transport and client to the end, which it returns. The call is gone then.
  virtual absl::Status RunToEnd() = 0;
  // How many bytes or messages the client got, once it has ended.
  virtual size_t received() const = 0;

  // These may be called on any thread. The first two return true once the server knows that the
  // client has taken something, or has left.
  virtual bool has_taken() const = 0;
  virtual bool is_gone() const = 0;
  virtual void Leave() = 0;
  virtual void StopReading() = 0;
  virtual void ReadOn() = 0;

  absl::Status Run() {
    Begin();
    return RunToEnd();
  }
};

// A server for requests of a kind, of which model "m" does the work. Without gRPC: calls are fakes.
class World {
 public:
  // Without hooks for it, a model's complete is Steps().
  explicit World(const Kind& kind, testing::ModelHooks hooks = DefaultHooks(),
                 TestBackend::Options options = {});

  static testing::ModelHooks DefaultHooks() { return {.complete = Steps()}; }

  std::unique_ptr<Exchange> NewExchange();
  // Takes the models out of service.
  void RemoveModels();
  void AddModels();

  // How many requests have ended with this code, whatever model they reached, or at all.
  double Ended(absl::StatusCode code);
  double Ended();
  // Waits until every request is out of the server.
  void AwaitQuiet() {
    Await([this] { return backend.admission.in_flight() == 0; });
  }
  // How many jobs wait for model "m".
  size_t waiting() { return backend.scheduler.depth(model_->queue()); }

  const Kind kind;
  TestBackend backend;

 private:
  models::ModelInfo Info() const;

  const testing::ModelHooks hooks_;
  std::shared_ptr<ServedModel> model_;
  InferService infer_{backend.services(), [] { return true; }};
  TranslationService translation_{backend.services()};
  SynthesisService synthesis_{backend.services()};
  RivaSynthesisService riva_{backend.services()};
};

}  // namespace millrace::server
