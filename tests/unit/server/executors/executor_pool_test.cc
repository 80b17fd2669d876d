#include "server/executors/executor_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <latch>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "models/core/strings.h"
#include "server/executors/descriptor_passing.h"
#include "server/executors/remote_model.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/joining_thread.h"
#include "tests/unit/server/executors/fake_executors.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using testing::FakeExecutor;
using ::testing::HasSubstr;

constexpr ProcessEnd kSegfault{.signal = SIGSEGV};
constexpr ProcessEnd kKill{.signal = SIGKILL};
constexpr ProcessEnd kOutOfMemory{.signal = SIGKILL, .out_of_memory = true};

models::ModelInfo VoiceInfo(std::string_view name) {
  models::ModelInfo info;
  info.name = name;
  info.batching.max_batch = 8;
  info.details = models::SpeechInfo{.voices = {"v"}, .sample_rate = 8000};
  return info;
}

models::Input Say(std::string text) {
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
void SayLetter(models::Request& request, std::string_view suffix = "") {
  if (request.state() == nullptr) request.set_state(std::make_unique<State>());
  auto& state = static_cast<State&>(*request.state());
  const std::string& text = std::get<models::SynthesizeInput>(request.input()).text;
  models::SynthesizeOutput output;
  output.sample_rate = 8000;
  output.samples = {static_cast<float>(text[state.said]) + static_cast<float>(suffix.size())};
  output.text = text[state.said];
  output.text += suffix;
  output.sentence_index = state.said;
  request.Emit(std::move(output));
  ++state.said;
  request.AdvanceTo(static_cast<double>(text.size() - state.said));
  if (state.said == text.size()) request.Finish(absl::OkStatus());
}

size_t SaidOf(const models::Request& request) {
  const auto* state = static_cast<const State*>(const_cast<models::Request&>(request).state());
  return state == nullptr ? 0 : state->said;
}

const std::string& TextOf(const models::Request& request) {
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
  testing::FakeClock clock_;
  std::atomic<Duration> longest_wait_{Duration::zero()};
};

// An executor that falls silent when it is to load a model or, if it loads it, when it is to run a
// step.
class MuteExecutor final : public ExecutorProcess {
 public:
  MuteExecutor(FileDescriptor control, bool loads, std::atomic<int>& fallen_silent)
      : control_(dup(control.get())),
        thread_([control = std::move(control), loads, &fallen_silent]() mutable {
          MessageSocket socket(std::move(control));
          auto lanes = ReceiveDescriptors(socket.descriptor());
          if (!lanes.ok()) return;
          lanes->pop_back();
          executor::v1::FromExecutor hello;
          hello.mutable_hello()->set_protocol(kProtocolVersion);
          hello.mutable_hello()->set_version(std::string(testing::kFakeVersion));
          executor::v1::FromExecutor configured;
          configured.mutable_configured();
          if (!socket.Send(hello, {}, kWait).ok() || !socket.Send(configured, {}, kWait).ok())
            return;
          executor::v1::ToExecutor order;
          while (!order.has_load()) {
            if (!socket.Receive(order, kWait).ok()) return;
          }
          if (loads) {
            executor::v1::FromExecutor loaded;
            loaded.mutable_loaded()->set_model(order.load().model());
            WriteModelInfo(VoiceInfo("voice"), *loaded.mutable_loaded()->mutable_info());
            if (!socket.Send(loaded, {}, kWait).ok()) return;
            pollfd step = {.fd = lanes->front().get(), .events = POLLIN, .revents = 0};
            poll(&step, 1, /*timeout=*/-1);
          }
          ++fallen_silent;
          while (socket.Receive(order, kWait).ok()) {
          }
        }) {}
  ~MuteExecutor() override { thread_.join(); }

  int64_t pid() const override { return 1; }
  void Kill() override { shutdown(control_.get(), SHUT_RDWR); }
  ProcessEnd Await() override { return {.signal = SIGKILL}; }

 private:
  static constexpr auto kWait = [] { return true; };

  FileDescriptor control_;
  std::thread thread_;
};

class ExecutorPoolTest : public ::testing::Test {
 protected:
  using Hook = std::function<void(FakeExecutor&, models::Request&)>;

  // Successors come at once, unless the pool is to wait for them as it usually does.
  absl::Status Start(int executors = 1, bool at_once = true) {
    const ExecutorPool::Options usual;
    pool_.emplace(ExecutorPool::Options{.executors = executors,
                                        .spares = spares_,
                                        .max_age = max_age_,
                                        .max_growth = max_growth_,
                                        .lanes = 2,
                                        .version = std::string(testing::kFakeVersion),
                                        .step_limit = step_limit_,
                                        .answer_limit = kAnswerLimit,
                                        .backoff = at_once ? std::vector<Duration>{Duration{}}
                                                           : usual.backoff,
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
    models::FakeWorkerContext context;
    const auto batch = model_->Prepare(requests);
    batch->Forward(context);
    batch->Complete();
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

  static constexpr Duration kAnswerLimit = std::chrono::hours(24);

  CrashFolder* crashes_ = nullptr;  // set before Start, as those below
  Duration step_limit_ = ExecutorPool::Options().step_limit;
  int spares_ = 0;
  Duration max_age_{};
  uint64_t max_growth_ = 0;
  WaitClock clock_;
  Hook in_forward_;                                     // set before the model is loaded
  std::function<void(models::Request&)> in_complete_;   // the same
  std::function<absl::Status(FakeExecutor&)> on_load_;  // the same
  std::function<absl::Status(const models::Input&)> validate_;
  // The loads so far, for hooks to count: successors load models even when a test's body is over.
  std::atomic<int> loads_{0};
  std::atomic<int> models_alive_{0};
  std::atomic<bool> different_{false};  // the next executors speak otherwise
  testing::FakeLauncher launcher_{
      [this](FakeExecutor& executor,
             std::string_view name) -> absl::StatusOr<std::unique_ptr<const models::Model>> {
        if (on_load_) {
          if (absl::Status status = on_load_(executor); !status.ok()) return status;
        }
        ++models_alive_;
        testing::ModelHooks hooks;
        hooks.validate = validate_;
        hooks.forward = [this, &executor](models::Request& request) {
          if (in_forward_) in_forward_(executor, request);
        };
        hooks.complete = [this](models::Request& request) {
          if (in_complete_) in_complete_(request);
          if (TextOf(request) == "wrong task") request.Emit(models::InferOutput());
          SayLetter(request, different_ ? "!" : "");
        };
        hooks.destroyed = [this] { --models_alive_; };
        return std::make_unique<testing::FakeModel>(VoiceInfo(name), hooks);
      }};
  std::optional<ExecutorPool> pool_;
  std::unique_ptr<models::Model> model_;  // goes before the pool
};

TEST_F(ExecutorPoolTest, RunsStepsInTheExecutor) {
  StartWithModel();
  EXPECT_EQ(model_->info().name, "voice");
  EXPECT_EQ(model_->info().speech().sample_rate, 8000);
  Sink one;
  Sink two;
  models::Request first(Say("abc"), TimePoint::max(), one);
  models::Request second(Say("de"), TimePoint::max(), two);
  RunOnce({&first, &second});
  EXPECT_THAT(one.heard, ElementsAre("a"));
  EXPECT_EQ(first.work_left(), 2);
  RunToEnd({&first, &second});
  EXPECT_THAT(one.heard, ElementsAre("a", "b", "c"));
  EXPECT_THAT(two.heard, ElementsAre("d", "e"));
  EXPECT_EQ(first.outcome(), absl::OkStatus());
  EXPECT_EQ(launcher_.started(), 1);
  EXPECT_EQ(pool_->stats().serving, 1);
}

TEST_F(ExecutorPoolTest, SpreadsRequestsOverSeveralExecutorsAndKeepsThemThere) {
  std::atomic<int> on_other{0};
  Mutex mu;
  std::map<std::string, int> executor_of;
  in_forward_ = [&](FakeExecutor& executor, models::Request& request) {
    const MutexLock lock(mu);
    const auto [at, is_new] = executor_of.emplace(TextOf(request), executor.number());
    if (at->second != executor.number()) ++on_other;
  };
  StartWithModel(2);
  Sink sink;
  std::deque<models::Request> requests;
  std::vector<models::Request*> all;
  for (const char* text : {"abc", "defg", "hi"}) {
    all.push_back(&requests.emplace_back(Say(text), TimePoint::max(), sink));
    RunOnce(all);
  }
  RunToEnd(all);
  EXPECT_EQ(sink.heard.size(), 9U);
  EXPECT_EQ(on_other, 0);
  const MutexLock lock(mu);
  // Each waits between its steps while the next one begins.
  EXPECT_NE(executor_of["abc"], executor_of["defg"]);
}

TEST_F(ExecutorPoolTest, PassesOnWhyAnInputIsRefused) {
  validate_ = [](const models::Input&) { return absl::InvalidArgumentError("text: too odd"); };
  StartWithModel();
  EXPECT_EQ(RunAlone("abc"), absl::InvalidArgumentError("text: too odd"));
}

TEST_F(ExecutorPoolTest, FailsOnlyTheRequestThatThrows) {
  in_forward_ = [](FakeExecutor&, models::Request& request) {
    if (TextOf(request) == "bad") throw std::runtime_error("no memory for this");
  };
  StartWithModel();
  Sink sink;
  models::Request good(Say("ab"), TimePoint::max(), sink);
  models::Request bad(Say("bad"), TimePoint::max(), sink);
  RunToEnd({&good, &bad});
  EXPECT_EQ(good.outcome(), absl::OkStatus());
  EXPECT_EQ(bad.outcome(),
            absl::InternalError("model 'voice' failed on this request: no memory for this"));
  EXPECT_EQ(launcher_.started(), 1);
}

TEST_F(ExecutorPoolTest, GoesOnBehindWhatWasDelivered) {
  in_forward_ = [](FakeExecutor& executor, models::Request& request) {
    if (executor.number() == 1 && SaidOf(request) == 3) executor.Die(kKill);
  };
  StartWithModel();
  Sink sink;
  models::Request request(Say("abcdef"), TimePoint::max(), sink);
  RunToEnd({&request});
  EXPECT_EQ(request.outcome(), absl::OkStatus());
  EXPECT_THAT(sink.heard, ElementsAre("a", "b", "c", "d", "e", "f"));
  const ExecutorPool::Stats stats = pool_->stats();
  EXPECT_EQ(stats.deaths[static_cast<size_t>(DeathCause::kKilled)], 1U);
  EXPECT_EQ(stats.restarts, 1U);
  EXPECT_EQ(stats.replays, 1U);
  EXPECT_EQ(stats.serving, 1);
  EXPECT_EQ(models_alive_, 1);
}

TEST_F(ExecutorPoolTest, EndsARequestThatWouldGoOnWithSomethingElse) {
  in_forward_ = [this](FakeExecutor& executor, models::Request& request) {
    if (executor.number() != 1 || SaidOf(request) != 3) return;
    different_ = true;
    executor.Die(kSegfault);
  };
  StartWithModel();
  Sink sink;
  models::Request request(Say("abcdef"), TimePoint::max(), sink);
  RunToEnd({&request});
  EXPECT_TRUE(absl::IsInternal(*request.outcome()));
  EXPECT_THAT(std::string(Message(*request.outcome())), HasSubstr("other results"));
  EXPECT_THAT(sink.heard, ElementsAre("a", "b", "c"));
}

TEST_F(ExecutorPoolTest, ConvictsTheRequestThatEndsTwoExecutorsAndNoOther) {
  in_forward_ = [](FakeExecutor& executor, models::Request& request) {
    if (TextOf(request) == "poison" && SaidOf(request) == 1) executor.Die(kSegfault);
  };
  StartWithModel();
  Sink sinks[3];
  models::Request before(Say("abcdef"), TimePoint::max(), sinks[0]);
  models::Request poison(Say("poison"), TimePoint::max(), sinks[1]);
  models::Request after(Say("ghi"), TimePoint::max(), sinks[2]);
  RunToEnd({&before, &poison, &after});
  EXPECT_EQ(before.outcome(), absl::OkStatus());
  EXPECT_EQ(after.outcome(), absl::OkStatus());
  EXPECT_THAT(sinks[0].heard, ElementsAre("a", "b", "c", "d", "e", "f"));
  EXPECT_THAT(sinks[2].heard, ElementsAre("g", "h", "i"));
  EXPECT_EQ(poison.outcome(),
            absl::InternalError("the request ended two executors of model 'voice' (signal "
                                "SIGSEGV); crash executor-2"));
  EXPECT_EQ(launcher_.started(), 3);
  EXPECT_EQ(pool_->stats().convicted, 1U);

  // Its copies are refused, and nothing else.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(model_->Validate(Say("poison")),
              absl::InvalidArgumentError("text: an equal request ended two executors (crash "
                                         "executor-2); it is refused for an hour"));
  }
  EXPECT_TRUE(model_->Validate(Say("poisons")).ok());
  clock_.Advance(std::chrono::minutes(61));
  EXPECT_TRUE(model_->Validate(Say("poison")).ok());
}

TEST_F(ExecutorPoolTest, RunsSuspectsAlone) {
  Mutex mu;
  std::set<std::string> in_step;
  size_t most_in_step = 0;
  in_forward_ = [&](FakeExecutor& executor, models::Request& request) {
    if (executor.number() == 1 && SaidOf(request) == 1) executor.Die(kSegfault);
    const MutexLock lock(mu);
    if (executor.number() == 1) return;
    in_step.insert(TextOf(request));
    most_in_step = std::max(most_in_step, in_step.size());
  };
  in_complete_ = [&](models::Request& request) {
    const MutexLock lock(mu);
    in_step.erase(TextOf(request));
  };
  StartWithModel();
  Sink sink;
  models::Request one(Say("abc"), TimePoint::max(), sink);
  models::Request two(Say("def"), TimePoint::max(), sink);
  RunToEnd({&one, &two});
  EXPECT_EQ(one.outcome(), absl::OkStatus());
  EXPECT_EQ(two.outcome(), absl::OkStatus());
  EXPECT_EQ(sink.heard.size(), 6U);
  const MutexLock lock(mu);
  EXPECT_EQ(most_in_step, 1U);
}

TEST_F(ExecutorPoolTest, BlamesNoRequestForAKill) {
  in_forward_ = [](FakeExecutor& executor, models::Request& request) {
    if (TextOf(request) == "heavy") executor.Die(kKill);
  };
  StartWithModel();
  const absl::Status status = RunAlone("heavy");
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(Message(status),
            "the executor of the request died (signal SIGKILL, executor-9), and it was run again "
            "often enough");
  EXPECT_EQ(pool_->stats().convicted, 0U);
  EXPECT_TRUE(model_->Validate(Say("heavy")).ok());
  EXPECT_EQ(RunAlone("light"), absl::OkStatus());
}

TEST_F(ExecutorPoolTest, EndsARequestSoonerWhoseExecutorsAreOutOfMemory) {
  in_forward_ = [](FakeExecutor& executor, models::Request& request) {
    if (TextOf(request) == "heavy") executor.Die(kOutOfMemory);
  };
  StartWithModel();
  EXPECT_EQ(RunAlone("heavy"),
            absl::UnavailableError("the executor of the request died (the system was out of "
                                   "memory, executor-3), and it was run again often enough"));
}

TEST_F(ExecutorPoolTest, CountsKillsOnlyWhileARequestGetsNoFurther) {
  // Executor n is killed once it has said n letters.
  in_forward_ = [](FakeExecutor& executor, models::Request& request) {
    if (SaidOf(request) == static_cast<size_t>(executor.number())) executor.Die(kKill);
  };
  StartWithModel();
  EXPECT_EQ(RunAlone("abcdefghijkl"), absl::OkStatus());
  EXPECT_EQ(launcher_.started(), 12);
}

TEST_F(ExecutorPoolTest, CountsKillsAndWantOfMemoryApart) {
  constexpr std::string_view deaths = "kkokkok";  // Each letter ends the executor of its number.
  in_forward_ = [&](FakeExecutor& executor, models::Request&) {
    const auto number = static_cast<size_t>(executor.number());
    if (number <= deaths.size()) executor.Die(deaths[number - 1] == 'k' ? kKill : kOutOfMemory);
  };
  StartWithModel();
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
}

TEST_F(ExecutorPoolTest, CountsNoReplayOfARequestThatWasInNoStep) {
  std::atomic<bool> die{false};
  in_forward_ = [&](FakeExecutor& executor, models::Request& request) {
    if (TextOf(request) == "dies" && die.exchange(false)) executor.Die(kKill);
  };
  StartWithModel();
  Sink sink;
  models::Request patient(Say("abc"), TimePoint::max(), sink);
  for (int i = 0; i <= RemoteModel::kMostReplays; ++i) {
    RunOnce({&patient});
    die = true;
    EXPECT_EQ(RunAlone("dies"), absl::OkStatus());
  }
  RunToEnd({&patient});
  EXPECT_EQ(patient.outcome(), absl::OkStatus());
  EXPECT_THAT(sink.heard, ElementsAre("a", "b", "c"));
}

TEST_F(ExecutorPoolTest, ASpareTakesOverAtOnceAndItsSuccessorIsTheNextSpare) {
  Mutex mu;
  CondVar changed;
  bool may_start = false;
  spares_ = 1;
  // The third executor, which is the successor of the dead one, does not get ready.
  on_load_ = [&](FakeExecutor&) {
    if (++loads_ <= 2) return absl::OkStatus();
    const MutexLock lock(mu);
    while (!may_start) changed.Wait(mu);
    return absl::OkStatus();
  };
  std::atomic<int> died_on{0};
  in_forward_ = [&](FakeExecutor& executor, models::Request&) {
    int none = 0;
    if (died_on.compare_exchange_strong(none, executor.number())) executor.Die(kSegfault);
  };
  StartWithModel();
  EXPECT_EQ(pool_->stats().serving, 1);
  EXPECT_EQ(pool_->stats().spares_ready, 1);
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  EXPECT_EQ(pool_->stats().serving, 1);
  EXPECT_EQ(pool_->stats().spares_ready, 0);
  {
    const MutexLock lock(mu);
    may_start = true;
    changed.NotifyAll();
  }
  while (pool_->stats().spares_ready == 0) std::this_thread::yield();
  EXPECT_EQ(pool_->stats().serving, 1);
  EXPECT_EQ(launcher_.started(), 3);
}

TEST_F(ExecutorPoolTest, ASpareReplacesAnOldExecutorWhichEndsOnceItsRequestsHave) {
  spares_ = 1;
  max_age_ = std::chrono::hours(1);
  Mutex mu;
  std::map<std::string, std::set<int>> executors_of;
  in_forward_ = [&](FakeExecutor& executor, models::Request& request) {
    const MutexLock lock(mu);
    executors_of[TextOf(request)].insert(executor.number());
  };
  StartWithModel();
  Sink sink;
  models::Request under_way(Say("abc"), TimePoint::max(), sink);
  RunOnce({&under_way});
  clock_.Advance(std::chrono::minutes(61));
  while (pool_->stats().spares_ready == 1) std::this_thread::yield();
  EXPECT_EQ(pool_->stats().serving, 1);
  EXPECT_EQ(RunAlone("new"), absl::OkStatus());
  RunToEnd({&under_way});
  EXPECT_EQ(under_way.outcome(), absl::OkStatus());
  {
    const MutexLock lock(mu);
    EXPECT_EQ(executors_of["abc"].size(), 1U);
    EXPECT_NE(executors_of["new"], executors_of["abc"]);
  }
  while (pool_->stats().spares_ready == 0) std::this_thread::yield();
  const ExecutorPool::Stats stats = pool_->stats();
  EXPECT_EQ(stats.recycled, 1U);
  EXPECT_EQ(stats.deaths, decltype(stats.deaths){});
  EXPECT_EQ(stats.replays, 0U);
}

TEST_F(ExecutorPoolTest, ASpareReplacesAnExecutorWhoseMemoryGrows) {
  spares_ = 1;
  max_growth_ = 1000;
  std::atomic<uint64_t> looks{0};
  // Only the first one grows, whichever of both serves first.
  std::atomic<int> grows{0};
  launcher_.memory = [&](int number) -> uint64_t {
    if (grows == 0) return 5000;
    ++looks;
    return number == grows ? 5000 + 500 * looks : 5000;
  };
  in_forward_ = [&](FakeExecutor& executor, models::Request&) {
    if (grows == 0) grows = executor.number();
  };
  StartWithModel();
  Sink sink;
  models::Request under_way(Say("abc"), TimePoint::max(), sink);
  RunOnce({&under_way});
  while (pool_->stats().spares_ready == 1) {
    const uint64_t before = looks;
    clock_.Advance(std::chrono::milliseconds(250));
    while (looks == before && pool_->stats().spares_ready == 1) std::this_thread::yield();
  }
  EXPECT_GE(looks, 64U);
  EXPECT_EQ(pool_->stats().serving, 1);
  EXPECT_EQ(RunAlone("new"), absl::OkStatus());
  EXPECT_EQ(pool_->stats().recycled, 0U);
  RunToEnd({&under_way});
  EXPECT_EQ(under_way.outcome(), absl::OkStatus());
  while (pool_->stats().spares_ready == 0) std::this_thread::yield();
  const ExecutorPool::Stats stats = pool_->stats();
  EXPECT_EQ(stats.recycled, 1U);
  EXPECT_EQ(stats.deaths, decltype(stats.deaths){});
  EXPECT_EQ(stats.replays, 0U);
  // Its threads look at the memory, and so at variables of this test, for as long as it lives.
  model_.reset();
  pool_.reset();
}

TEST_F(ExecutorPoolTest, ALoadGoesOnInTheSuccessorOfAnExecutorThatIsKilled) {
  on_load_ = [&](FakeExecutor& executor) {
    if (++loads_ == 1) executor.Die(kKill);
    return absl::OkStatus();
  };
  StartWithModel();
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  EXPECT_EQ(launcher_.started(), 2);
}

TEST_F(ExecutorPoolTest, ASuccessorServesBeforeItLoadsANewModel) {
  std::promise<void> release;
  std::atomic<int> voices{0};
  std::atomic<int> new_loads{0};
  on_load_ = [&, released = release.get_future().share()](FakeExecutor& executor) {
    // Each executor loads the model that serves first.
    if (voices < executor.number()) {
      ++voices;
    } else if (++new_loads == 1) {
      executor.Die(kKill);
    } else {
      released.wait();
    }
    return absl::OkStatus();
  };
  StartWithModel();
  absl::Status loaded;
  std::unique_ptr<models::Model> added;
  {
    const testing::JoiningThread loader([&] {
      auto model = pool_->Load("new", 1);
      loaded = model.status();
      if (model.ok()) added = *std::move(model);
    });
    while (new_loads < 2) std::this_thread::yield();
    EXPECT_EQ(pool_->stats().serving, 1);
    EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
    release.set_value();
  }
  EXPECT_EQ(loaded, absl::OkStatus());
  EXPECT_EQ(launcher_.started(), 2);
  std::swap(model_, added);
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
}

TEST_F(ExecutorPoolTest, ReportsEachDeathWithTheStepThatRan) {
  std::string folder = ::testing::TempDir() + "deaths.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  CrashFolder crashes(folder);
  crashes_ = &crashes;
  in_forward_ = [](FakeExecutor& executor, models::Request& request) {
    if (executor.number() == 1 && SaidOf(request) == 1) executor.Die(kSegfault);
  };
  StartWithModel();
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  model_.reset();
  pool_.reset();
  std::string text;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  std::filesystem::remove_all(folder);
  EXPECT_THAT(text, HasSubstr("\"id\": \"executor-1\""));
  EXPECT_THAT(text, HasSubstr("\"how\": \"signal SIGSEGV\""));
  EXPECT_THAT(text, HasSubstr("\"requests\": 1, \"described\": [{\"id\": 1, \"bytes\": 3}]"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("abc")));
}

TEST_F(ExecutorPoolTest, KillsAnExecutorThatHangsAndBlamesTheRequest) {
  std::atomic<int> hung{0};
  in_forward_ = [&](FakeExecutor& executor, models::Request& request) {
    if (TextOf(request) != "hang") return;
    ++hung;
    executor.Hang();
  };
  StartWithModel();
  std::thread time([&] {
    for (int steps = 1; steps <= 2; ++steps) {
      while (hung < steps) std::this_thread::yield();
      clock_.Advance(std::chrono::seconds(31));
    }
  });
  const absl::Status status = RunAlone("hang");
  time.join();
  EXPECT_EQ(status, absl::InternalError("the request ended two executors of model 'voice' (a step "
                                        "took too long); crash executor-2"));
  EXPECT_EQ(pool_->stats().deaths[static_cast<size_t>(DeathCause::kHang)], 2U);
}

TEST_F(ExecutorPoolTest, ConvictsNoRequestOfAnExecutorThatFallsSilent) {
  std::atomic<int> silent{0};
  launcher_.stand_in = [&](int number, FileDescriptor& control) {
    return number > 2 ? nullptr
                      : std::make_unique<MuteExecutor>(std::move(control), /*loads=*/true, silent);
  };
  step_limit_ = 2 * kAnswerLimit;
  StartWithModel();
  std::thread time([&] {
    for (int fallen = 1; fallen <= 2; ++fallen) {
      while (silent < fallen) std::this_thread::yield();
      clock_.Advance(kAnswerLimit);
    }
  });
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  time.join();
  EXPECT_EQ(pool_->stats().deaths[static_cast<size_t>(DeathCause::kSilent)], 2U);
  EXPECT_EQ(pool_->stats().convicted, 0U);
}

TEST_F(ExecutorPoolTest, TellsTheExecutorThatARequestIsCancelled) {
  std::atomic<bool> begun{false};
  in_forward_ = [&](FakeExecutor&, models::Request& request) {
    begun = true;
    while (!request.ShouldStop()) std::this_thread::yield();
  };
  StartWithModel();
  Sink sink;
  models::Request request(Say("abc"), TimePoint::max(), sink);
  std::thread client([&] {
    while (!begun) std::this_thread::yield();
    sink.Cancel();
  });
  RunOnce({&request});
  client.join();
  EXPECT_FALSE(request.outcome().has_value());
  EXPECT_TRUE(request.ShouldStop());
}

TEST_F(ExecutorPoolTest, FreesAModelInTheExecutorWhenTheFrontUnloadsIt) {
  StartWithModel();
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  model_.reset();
  // The executor reads its orders one after the other.
  auto other = pool_->Load("other", 1);
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(models_alive_, 1);
}

TEST_F(ExecutorPoolTest, SaysWhyAModelCouldNotBeLoaded) {
  on_load_ = [](FakeExecutor&) { return absl::InvalidArgumentError("weights: too short"); };
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(pool_->Load("voice", 1).status(), absl::InvalidArgumentError("weights: too short"));
  EXPECT_EQ(pool_->stats().serving, 1);
}

TEST_F(ExecutorPoolTest, TriesANewModelOnceMoreWhoseExecutorDied) {
  on_load_ = [&](FakeExecutor& executor) {
    if (++loads_ == 2) executor.Die(kSegfault);
    return absl::OkStatus();
  };
  StartWithModel();
  auto model = pool_->Load("new", 1);
  EXPECT_EQ(model.status(), absl::OkStatus());
  EXPECT_EQ(launcher_.started(), 2);
}

TEST_F(ExecutorPoolTest, GivesUpANewModelThatEndsTwoExecutorsAtOnce) {
  const auto crashes = [this] {
    return pool_->stats().deaths.at(static_cast<size_t>(DeathCause::kCrash));
  };
  on_load_ = [crashes, loads = std::make_shared<std::array<std::atomic<int>, 16>>(),
              both = std::make_shared<std::latch>(2)](FakeExecutor& executor) {
    // The first model is the one that serves.
    if (++loads->at(static_cast<size_t>(executor.number())) == 1) return absl::OkStatus();
    if (executor.number() <= 2) {
      both->arrive_and_wait();
      executor.Die(kSegfault);
    }
    while (executor.number() > 2 && crashes() < 2) std::this_thread::yield();
    return absl::OkStatus();
  };
  StartWithModel(2);
  EXPECT_EQ(pool_->Load("bad", 1).status(),
            absl::InternalError("an executor died while it loaded model 'bad': signal SIGSEGV"));
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
}

TEST_F(ExecutorPoolTest, GivesUpAModelThatEndsTwoExecutorsInALoadAndNoOther) {
  on_load_ = [&](FakeExecutor& executor) {
    const int load = ++loads_;
    if (load == 2 || load == 4) executor.Die(kSegfault);
    return absl::OkStatus();
  };
  StartWithModel();
  const absl::Status status = pool_->Load("bad", 1).status();
  EXPECT_EQ(status,
            absl::InternalError("an executor died while it loaded model 'bad': signal SIGSEGV"));
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  EXPECT_EQ(launcher_.started(), 3);
}

TEST_F(ExecutorPoolTest, GivesUpALoadedModelThatEndsTwoExecutorsInALoad) {
  on_load_ = [&](FakeExecutor& executor) {
    if (++loads_ == 2 || loads_ == 4 || loads_ == 5) executor.Die(kSegfault);
    return absl::OkStatus();
  };
  std::atomic<int> deaths{0};
  in_forward_ = [&](FakeExecutor& executor, models::Request&) {
    if (++deaths <= 2) executor.Die(kKill);
  };
  StartWithModel();
  Sink sink;
  models::Request request(Say("abc"), TimePoint::max(), sink);
  RunOnce({&request});  // the executors of loads 1 and 2 die, the third one has the model
  EXPECT_FALSE(request.outcome().has_value());
  RunToEnd({&request});
  EXPECT_EQ(request.outcome(),
            absl::InternalError("model 'voice' could not be loaded again after an executor died: "
                                "an executor died while it loaded model 'voice': signal SIGSEGV"));
  EXPECT_EQ(loads_, 5);
}

TEST_F(ExecutorPoolTest, KillsAnExecutorThatFallsSilentInALoad) {
  std::atomic<int> silent{0};
  launcher_.stand_in = [&](int number, FileDescriptor& control) {
    return number != 2
               ? nullptr
               : std::make_unique<MuteExecutor>(std::move(control), /*loads=*/false, silent);
  };
  in_forward_ = [](FakeExecutor& executor, models::Request&) {
    if (executor.number() == 1) executor.Die(kKill);
  };
  StartWithModel();
  std::thread time([&] {
    while (silent == 0) std::this_thread::yield();
    clock_.Advance(kAnswerLimit);
  });
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  time.join();
  EXPECT_EQ(pool_->stats().deaths[static_cast<size_t>(DeathCause::kSilent)], 1U);
}

TEST_F(ExecutorPoolTest, EndsRequestsOfAModelThatItsSuccessorCannotLoad) {
  on_load_ = [&](FakeExecutor&) {
    return ++loads_ == 1 ? absl::OkStatus() : absl::NotFoundError("its folder is gone");
  };
  in_forward_ = [](FakeExecutor& executor, models::Request&) { executor.Die(kKill); };
  StartWithModel();
  EXPECT_EQ(RunAlone("abc"), absl::InternalError("model 'voice' could not be loaded again after an "
                                                 "executor died: its folder is gone"));
}

TEST_F(ExecutorPoolTest, WaitsLongerFromDeathToDeathAndEndsWaitsWhenTheServerStops) {
  in_forward_ = [](FakeExecutor& executor, models::Request&) { executor.Die(kOutOfMemory); };
  StartWithModel(1, /*at_once=*/false);
  Sink sink;
  models::Request request(Say("abc"), TimePoint::max(), sink);
  RunOnce({&request});  // its successor is started at once
  RunOnce({&request});
  // The next one comes after a second, which does not pass.
  std::thread stop([&] { pool_->EndWaits(); });
  RunOnce({&request});
  stop.join();
  EXPECT_EQ(request.outcome(), absl::UnavailableError("the server is shutting down"));
  EXPECT_EQ(launcher_.started(), 2);
  EXPECT_EQ(pool_->stats().serving, 0);
  clock_.Advance(std::chrono::milliseconds(500));
  EXPECT_GE(pool_->stats().without, std::chrono::milliseconds(500));
}

TEST_F(ExecutorPoolTest, KillsNeitherLengthenNorEndARowOfDeaths) {
  // The clock stands still, so that a successor which has to wait does not come.
  constexpr std::string_view deaths = "kkkckkc";  // Each letter ends the executor of its number.
  in_forward_ = [&](FakeExecutor& executor, models::Request&) {
    executor.Die(deaths[static_cast<size_t>(executor.number()) - 1] == 'k' ? kKill : kSegfault);
  };
  StartWithModel(1, /*at_once=*/false);
  Sink sink;
  for (size_t i = 0; i < deaths.size(); ++i) {
    models::Request request(Say("abc"), TimePoint::max(), sink);
    RunOnce({&request});
  }
  while (clock_.longest_wait() < std::chrono::seconds(1) && launcher_.started() == 7)
    std::this_thread::yield();
  EXPECT_EQ(launcher_.started(), 7);
  EXPECT_EQ(clock_.longest_wait(), std::chrono::seconds(1));
}

TEST_F(ExecutorPoolTest, TakesNoOutputsOfAnotherTask) {
  StartWithModel();
  const absl::Status status = RunAlone("wrong task");
  EXPECT_EQ(status, absl::InternalError("the request ended two executors of model 'voice' (it "
                                        "returned outputs of another task); crash executor-2"));
  EXPECT_EQ(pool_->stats().deaths[static_cast<size_t>(DeathCause::kProtocol)], 2U);
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
}

TEST_F(ExecutorPoolTest, DoesNotRunARequestAgainWhoseTimeIsOver) {
  in_forward_ = [](FakeExecutor& executor, models::Request&) { executor.Die(kKill); };
  StartWithModel();
  Sink sink;
  models::Request request(Say("abc"), TimePoint::max(), sink);
  RunOnce({&request});
  sink.Cancel();
  RunOnce({&request});
  EXPECT_TRUE(request.ShouldStop());
  EXPECT_LE(launcher_.started(), 3);
}

// Writes what is no frame in place of its first message.
class GarbageLauncher final : public ExecutorLauncher {
 public:
  absl::StatusOr<std::unique_ptr<ExecutorProcess>> Launch(FileDescriptor control) override {
    const std::string_view bytes = "Segmentation fault (core dumped)\n";
    EXPECT_EQ(write(control.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    struct Process final : ExecutorProcess {
      explicit Process(FileDescriptor control) : control(std::move(control)) {}
      int64_t pid() const override { return 1; }
      void Kill() override {}
      ProcessEnd Await() override { return {.exit_status = 1}; }
      FileDescriptor control;
    };
    return std::make_unique<Process>(std::move(control));
  }
};

TEST(ExecutorPoolStartTest, SaysThatAnExecutorSendsNoMessages) {
  GarbageLauncher launcher;
  ExecutorPool pool({.patience = std::chrono::milliseconds(1)}, launcher);
  EXPECT_EQ(pool.Start(), absl::InvalidArgumentError("a message does not begin as a frame does"));
}

TEST_F(ExecutorPoolTest, RefusesAnExecutorOfAnotherVersion) {
  launcher_.version = "9.9.9";
  const absl::Status status = Start();
  EXPECT_EQ(status, absl::FailedPreconditionError(
                        "an executor is of version 9.9.9 and speaks protocol 2; this server is of "
                        "version 1.2.3 and speaks 2"));
}

TEST_F(ExecutorPoolTest, SaysThatAnExecutorCannotBeStarted) {
  launcher_.Refuse(true);
  EXPECT_EQ(Start(), absl::UnavailableError("no more processes"));
}

}  // namespace
}  // namespace millrace::server
