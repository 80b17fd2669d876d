#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/executors/control_messages.h"
#include "server/executors/descriptor_passing.h"
#include "server/executors/executor_pool.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/run_model.h"
#include "tests/unit/server/executors/fake_executors.h"

namespace millrace::testing {

// A pool whose executors are threads of the test, and a model that speaks a letter in each step.
class ExecutorPoolTest : public ::testing::Test {
 protected:
  ExecutorPoolTest() { config_.executor_restart_limit = 0; }

  static constexpr server::ProcessEnd kSegfault{.signal = SIGSEGV};
  static constexpr server::ProcessEnd kKill{.signal = SIGKILL};
  static constexpr server::ProcessEnd kOutOfMemory{.signal = SIGKILL, .out_of_memory = true};

  static models::ModelInfo VoiceInfo(std::string_view name) {
    models::ModelInfo info;
    info.name = name;
    info.batching.max_batch = 8;
    info.details = models::SpeechInfo{.voices = {"v"}, .sample_rate = 8000};
    return info;
  }

  static models::Input Say(std::string text) {
    models::SynthesizeInput input;
    input.text = std::move(text);
    return input;
  }

  class Sink final : public models::OutputSink {
   public:
    void Emit(models::Output output) override {
      const auto& speech = std::get<models::SynthesizeOutput>(output);
      heard.push_back(speech.text);
    }
    std::vector<std::string> heard;
  };

  struct State final : models::RequestState {
    size_t said = 0;
  };

  // Speaks a letter of the text in each step.
  // sentences: another run can go on behind each letter.
  static void SayLetter(models::Request& request, std::string_view suffix = "",
                        bool sentences = false) {
    const auto& input = std::get<models::SynthesizeInput>(request.input());
    if (request.state() == nullptr) {
      request.set_state(std::make_unique<State>());
      static_cast<State&>(*request.state()).said = input.spoken.sentences;
    }
    auto& state = static_cast<State&>(*request.state());
    const std::string& text = input.text;
    models::SynthesizeOutput output;
    output.sample_rate = 8000;
    output.samples = {static_cast<float>(text[state.said]) + static_cast<float>(suffix.size())};
    output.text = text[state.said];
    output.text += suffix;
    output.sentence_index = state.said;
    ++state.said;
    if (sentences) output.spoken = {.bytes = state.said, .sentences = state.said};
    request.Emit(std::move(output));
    request.AdvanceTo(static_cast<double>(text.size() - state.said));
    if (state.said == text.size()) request.Finish(absl::OkStatus());
  }

  static size_t SaidOf(const models::Request& request) {
    const auto* state = static_cast<const State*>(const_cast<models::Request&>(request).state());
    return state == nullptr ? 0 : state->said;
  }

  static const std::string& TextOf(const models::Request& request) {
    return std::get<models::SynthesizeInput>(request.input()).text;
  }

  // A clock that stands still and knows the longest time for which somebody has waited.
  class WaitClock final : public Clock {
   public:
    TimePoint Now() const override { return clock_.Now(); }
    bool WaitUntil(CondVar& cv, Mutex& mu, TimePoint deadline) override MILLRACE_REQUIRES(mu) {
      const Duration wait = deadline - Now();
      Duration longest = longest_wait_.load();
      while (wait > longest && !longest_wait_.compare_exchange_weak(longest, wait)) {
      }
      return clock_.WaitUntil(cv, mu, deadline);
    }
    void Advance(Duration by) { clock_.Advance(by); }
    Duration longest_wait() const { return longest_wait_.load(); }

   private:
    FakeClock clock_;
    std::atomic<Duration> longest_wait_{Duration::zero()};
  };

  // The mute executors of a test.
  struct Silence {
    std::atomic<unsigned> fallen{0};  // so many have fallen silent
    std::atomic<unsigned> asked{0};   // the last of them that was asked whether it lives
    std::atomic<unsigned> pings{0};   // so often the silent ones were asked
  };

  // An executor that falls silent when it is to load a model or, if it loads it, when it is to run
  // a step.
  class MuteExecutor final : public server::ExecutorProcess {
   public:
    MuteExecutor(FileDescriptor control, bool loads, Silence& silence)
        : control_(dup(control.get())),
          thread_([control = std::move(control), loads, &silence]() mutable {
            server::MessageSocket socket(std::move(control));
            auto lanes = server::ReceiveDescriptors(socket.descriptor());
            if (!lanes.ok()) return;
            lanes->pop_back();
            const auto tell = [&socket](const server::FromExecutor& message) {
              return socket.Send(server::WriteControl(message), {}, kWait).ok();
            };
            const auto hear = [&socket]() -> absl::StatusOr<server::ToExecutor> {
              MILLRACE_ASSIGN_OR_RETURN(const auto frame, socket.Receive(kWait));
              return server::ReadToExecutor(frame.header);
            };
            if (!tell(server::ExecutorHello{server::kProtocolVersion, std::string(kFakeVersion)}) ||
                !tell(server::ExecutorReady{}))
              return;
            auto order = hear();
            while (order.ok() && !std::holds_alternative<server::LoadOrder>(*order)) order = hear();
            if (!order.ok()) return;
            if (loads) {
              if (!tell(server::LoadedModel{.model = std::get<server::LoadOrder>(*order).model,
                                            .status = {},
                                            .info = VoiceInfo("voice")}))
                return;
              pollfd step = {.fd = lanes->front().get(), .events = POLLIN, .revents = 0};
              poll(&step, 1, /*timeout=*/-1);
            }
            const unsigned number = ++silence.fallen;
            while ((order = hear()).ok()) {
              if (!std::holds_alternative<server::PingOrder>(*order)) continue;
              silence.asked = number;
              ++silence.pings;
            }
          }) {}
    ~MuteExecutor() override { thread_.join(); }

    int64_t pid() const override { return 1; }
    void Kill() override { shutdown(control_.get(), SHUT_RDWR); }
    server::ProcessEnd Await() override { return {.signal = SIGKILL}; }

   private:
    static constexpr auto kWait = [] { return true; };

    FileDescriptor control_;
    std::thread thread_;
  };

  using Hook = std::function<void(FakeExecutor&, models::Request&)>;

  // Successors come at once, unless the pool is to wait for them as it usually does.
  absl::Status Start(int executors = 1, bool at_once = true) {
    const server::ExecutorPool::Options usual;
    config_.executors = executors;
    pool_.emplace(
        server::ExecutorPool::Options{
            .config = config_,
            .lanes = 2,
            .version = std::string(kFakeVersion),
            .answer_limit = kAnswerLimit,
            .backoff = at_once ? std::vector<Duration>{Duration{}} : usual.backoff,
            .patience = std::chrono::milliseconds(1),
            .crashes = crashes_},
        launcher_, clock_);
    return pool_->Start();
  }
  void StartWithModel(int executors = 1, bool at_once = true) {
    ASSERT_TRUE(Start(executors, at_once).ok());
    auto model = pool_->Load("voice", 1);
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
  }

  void RunOnce(std::vector<models::Request*> requests) {
    std::erase_if(requests, [](const auto* r) { return r->outcome().has_value(); });
    testing::RunStep(*model_, requests);
  }
  // Runs steps of all requests together until all are finished.
  void RunToEnd(const std::vector<models::Request*>& requests) {
    const auto finished = [](const auto* r) { return r->outcome().has_value(); };
    for (int i = 0; i < 1000 && !std::ranges::all_of(requests, finished); ++i) RunOnce(requests);
  }
  // Says a text in a request of its own; returns its outcome.
  absl::Status RunAlone(std::string text) {
    Sink sink;
    models::Request request(Say(std::move(text)), TimePoint::max(), sink);
    RunToEnd({&request});
    return request.outcome().value_or(absl::UnknownError("not finished"));
  }

  static constexpr Duration kAnswerLimit = std::chrono::years(10);

  // Waits until so many executors have fallen silent and somebody listens to the last of them, and
  // lets time pass until it is killed.
  void LetSilencePass(const Silence& silence, unsigned fallen) {
    const auto killed = [&] {
      return pool_->stats().deaths[static_cast<size_t>(server::DeathCause::kSilent)] >= fallen;
    };
    while (silence.fallen < fallen) std::this_thread::yield();
    while (silence.asked < fallen) {
      clock_.Advance(std::chrono::seconds(1));
      std::this_thread::yield();
    }
    // In parts, after each of which the front looks: a time in which it did not run does not count.
    // A ping from before a part may be taken for a look after it, so that there may be more parts
    // than the limit has.
    while (!killed()) {
      const unsigned before = silence.pings;
      clock_.Advance(kAnswerLimit / 8);
      while (silence.pings == before && !killed()) std::this_thread::yield();
    }
  }

  server::CrashFolder* crashes_ = nullptr;  // set before Start, as those below
  ServerConfig config_;
  bool sentences_ = false;  // letters are sentences behind which another run can go on
  WaitClock clock_;
  Hook in_forward_;                                     // set before the model is loaded
  std::function<void(models::Request&)> in_complete_;   // the same
  std::function<absl::Status(FakeExecutor&)> on_load_;  // the same
  std::function<absl::Status(const models::Input&)> validate_;
  // The loads so far, for hooks to count: successors load models even when a test's body is over.
  std::atomic<int> loads_{0};
  std::atomic<int> models_alive_{0};
  std::atomic<bool> different_{false};  // the next executors speak otherwise
  FakeLauncher launcher_{
      [this](FakeExecutor& executor,
             std::string_view name) -> absl::StatusOr<std::unique_ptr<const models::Model>> {
        if (on_load_) {
          if (absl::Status status = on_load_(executor); !status.ok()) return status;
        }
        ++models_alive_;
        ModelHooks hooks;
        hooks.validate = validate_;
        hooks.forward = [this, &executor](models::Request& request) {
          if (in_forward_) in_forward_(executor, request);
        };
        hooks.complete = [this](models::Request& request) {
          if (in_complete_) in_complete_(request);
          if (TextOf(request) == "wrong task") request.Emit(models::InferOutput());
          SayLetter(request, different_ ? "!" : "", sentences_);
        };
        hooks.destroyed = [this] { --models_alive_; };
        return std::make_unique<FakeModel>(VoiceInfo(name), hooks);
      }};
  std::optional<server::ExecutorPool> pool_;
  std::unique_ptr<models::Model> model_;  // goes before the pool
};

}  // namespace millrace::testing
