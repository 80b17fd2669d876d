#include "server/tracing/export_thread.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "mps_runtime/base/mutex.h"

namespace millrace::tracing {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using Kind = ExportResult::Kind;

// A collector that answers as the test says, and keeps what it was sent.
class FakeExporter final : public SpanExporter {
 public:
  struct State {
    Mutex mu;
    CondVar changed;
    std::function<ExportResult(int attempt)> answer MILLRACE_GUARDED_BY(mu);
    int attempts MILLRACE_GUARDED_BY(mu) = 0;
    bool hangs MILLRACE_GUARDED_BY(mu) = false;
    bool cancelled MILLRACE_GUARDED_BY(mu) = false;

    int AwaitAttempts(int count) MILLRACE_EXCLUDES(mu) {
      MutexLock lock(mu);
      while (attempts < count) changed.Wait(mu);
      return attempts;
    }
  };
  explicit FakeExporter(std::shared_ptr<State> state) : state_(std::move(state)) {}

  ExportResult Export(const std::vector<TraceRecord>&) override {
    State& state = *state_;
    MutexLock lock(state.mu);
    const int attempt = ++state.attempts;
    state.changed.NotifyAll();
    while (state.hangs && !state.cancelled) state.changed.Wait(state.mu);
    if (state.cancelled) return {.kind = Kind::kFailed, .error = "cancelled"};
    return state.answer ? state.answer(attempt) : ExportResult();
  }
  void Cancel() override {
    MutexLock lock(state_->mu);
    state_->cancelled = true;
    state_->changed.NotifyAll();
  }

 private:
  const std::shared_ptr<State> state_;
};

class ExportThreadTest : public ::testing::Test {
 protected:
  using State = FakeExporter::State;

  // One that is sent at once.
  void Make(std::function<ExportResult(int)> answer, ExportThread::Options options = Fast()) {
    {
      MutexLock lock(state_->mu);
      state_->answer = std::move(answer);
    }
    thread_ = std::make_unique<ExportThread>(options, TraceQueue::Limits{100, 1},
                                             std::make_unique<FakeExporter>(state_));
    thread_->Start();
  }
  static ExportThread::Options Fast() {
    return {.interval = hours(1),
            .first_wait = milliseconds(1),
            .longest_wait = milliseconds(1),
            .longest_effort = hours(1)};
  }
  void Push(size_t spans) {
    TraceRecord record;
    record.spans.resize(spans);
    thread_->queue().Push(std::move(record));
  }

  const std::shared_ptr<State> state_ = std::make_shared<State>();
  std::unique_ptr<ExportThread> thread_;
};

TEST_F(ExportThreadTest, SendsABatchAndCountsIt) {
  Make(nullptr);
  Push(3);
  state_->AwaitAttempts(1);
  thread_->Stop(hours(1));
  EXPECT_EQ(thread_->counts().exported(), 3U);
}

TEST_F(ExportThreadTest, SendsTheRestWhenItStops) {
  auto options = Fast();
  thread_ = std::make_unique<ExportThread>(options, TraceQueue::Limits{100, 50},
                                           std::make_unique<FakeExporter>(state_));
  thread_->Start();
  Push(2);
  thread_->Stop(hours(1));
  EXPECT_EQ(thread_->counts().exported(), 2U);
}

TEST_F(ExportThreadTest, TriesAgain) {
  Make([](int attempt) {
    return attempt < 3 ? ExportResult{.kind = Kind::kTryAgain, .error = "busy"} : ExportResult();
  });
  Push(3);
  state_->AwaitAttempts(3);
  thread_->Stop(hours(1));
  EXPECT_EQ(thread_->counts().exported(), 3U);
  EXPECT_EQ(thread_->counts().dropped(Drop::kExportFailed), 0U);
}

// The first batch, of three spans, gets an answer; the second, of one, is accepted, as would be
// another attempt for the first.
class ExportThreadLosesTest : public ExportThreadTest {
 protected:
  void ExpectLost(const ExportResult& answer, ExportThread::Options options) {
    Make([answer](int attempt) { return attempt == 1 ? answer : ExportResult(); }, options);
    Push(3);
    state_->AwaitAttempts(1);
    Push(1);
    state_->AwaitAttempts(2);
    thread_->Stop(hours(1));
    EXPECT_EQ(thread_->counts().dropped(Drop::kExportFailed), 3U);
    EXPECT_EQ(thread_->counts().exported(), 1U);
  }
};

TEST_F(ExportThreadLosesTest, ABatchThatTookTooLong) {
  auto options = Fast();
  options.longest_effort = milliseconds(0);
  ExpectLost({.kind = Kind::kTryAgain, .error = "busy"}, options);
}

TEST_F(ExportThreadLosesTest, ABatchForWhichTheCollectorWantsMoreTimeThanItIsWorth) {
  auto options = Fast();
  options.longest_effort = std::chrono::minutes(1);
  ExpectLost({.kind = Kind::kTryAgain, .error = "busy", .try_after = hours(1)}, options);
}

TEST_F(ExportThreadLosesTest, ABatchThatIsRefused) {
  ExpectLost({.kind = Kind::kFailed, .error = "bad"}, Fast());
}

TEST_F(ExportThreadTest, CountsSpansThatAreRejected) {
  Make([](int) { return ExportResult{.error = "too old", .rejected = 2}; });
  Push(3);
  state_->AwaitAttempts(1);
  thread_->Stop(hours(1));
  EXPECT_EQ(thread_->counts().exported(), 1U);
  EXPECT_EQ(thread_->counts().dropped(Drop::kRejected), 2U);
}

TEST_F(ExportThreadTest, ACollectorThatHangsIsCancelledAtTheStop) {
  {
    MutexLock lock(state_->mu);
    state_->hangs = true;
  }
  Make(nullptr);
  Push(3);
  state_->AwaitAttempts(1);
  Push(1);
  thread_->Stop(milliseconds(0));
  EXPECT_EQ(thread_->counts().exported(), 0U);
  EXPECT_EQ(thread_->counts().dropped(Drop::kExportFailed), 4U);
}

}  // namespace
}  // namespace millrace::tracing
