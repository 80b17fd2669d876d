#include "server/control/server_status.h"

#include <memory>
#include <string>

#include "mps_runtime/runtime.h"
#include "tests/fakes/fake_reply.h"
#include "tests/fakes/metrics_page.h"
#include "tests/unit/server/control/repository_fixture.h"

namespace millrace::server {
namespace {

using testing::FakeReply;
using testing::MetricOf;
using testing::MetricsPageOf;

class ServerStatusTest : public RepositoryTest {
 protected:
  ~ServerStatusTest() override { scheduler_.Close(); }

  void Submit(const std::string& model, Reply& reply) {
    auto job = std::make_unique<Job>(models::Input(), TimePoint::max(), reply,
                                     *directory_.Find(model, ""), Clock::Real());
    ASSERT_TRUE(scheduler_.Submit(job).ok());
  }
  static runtime::RuntimeOptions Cpu() {
    runtime::RuntimeOptions options;
    options.device = runtime::DeviceType::kCpu;
    return options;
  }

  const std::unique_ptr<runtime::Runtime> runtime_ = runtime::Runtime::Bootstrap(Cpu());
  Admission admission_{10};
  ServerStatus status_{*runtime_, *manager_, directory_, scheduler_, admission_, 3};
};

TEST_F(ServerStatusTest, IsNotReadyWithoutAModel) {
  status_.SetReady(true);
  EXPECT_FALSE(status_.Ready());
  AddToDisk("m");
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_TRUE(status_.Ready());
  ASSERT_TRUE(manager_->Unload("m").ok());
  EXPECT_FALSE(status_.Ready());
}

TEST_F(ServerStatusTest, IsLiveAtOnceAndReadyWhenTold) {
  AddToDisk("m");
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_TRUE(status_.Live());
  EXPECT_FALSE(status_.Ready());
  status_.SetReady(true);
  EXPECT_TRUE(status_.Ready());
  EXPECT_NE(status_.Version(), "");
  EXPECT_EQ(status_.workers(), 3);
}

TEST_F(ServerStatusTest, IsNotReadyOnceNoExecutorHasServedForSomeTime) {
  AddToDisk("m");
  ASSERT_TRUE(manager_->Load("m").ok());
  status_.SetReady(true);
  status_.SetTimeWithoutExecutor(ServerStatus::kWithoutExecutor - std::chrono::milliseconds(1));
  EXPECT_TRUE(status_.Ready());
  status_.SetTimeWithoutExecutor(ServerStatus::kWithoutExecutor);
  EXPECT_FALSE(status_.Ready());
  EXPECT_TRUE(status_.Live());
  status_.SetTimeWithoutExecutor(Duration::zero());
  EXPECT_TRUE(status_.Ready());
}

TEST_F(ServerStatusTest, FindsAModelOfTheRepository) {
  AddToDisk("m");
  EXPECT_EQ(status_.FindModel("m")->state, ModelState::kAvailable);
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_EQ(status_.FindModel("m")->state, ModelState::kReady);
  EXPECT_FALSE(status_.FindModel("nil"));
}

TEST_F(ServerStatusTest, MetricsShowTheMoment) {
  for (const char* name : {"a", "b"}) {
    AddToDisk(name);
    ASSERT_TRUE(manager_->Load(name).ok());
  }
  FakeReply replies[3];
  for (FakeReply& reply : replies) Submit("b", reply);
  const auto ticket = admission_.TryEnter();
  EXPECT_EQ(MetricsPageOf(status_),
            "millrace_server_ready 0\nmillrace_server_degraded 0\nmillrace_requests_in_flight 1\n"
            "millrace_grpc_polling_delay_seconds 0\n");
  EXPECT_EQ(MetricOf(*manager_, "millrace_queue_depth{model=\"a\"}"), 0);
  EXPECT_EQ(MetricOf(*manager_, "millrace_queue_depth{model=\"b\"}"), 3);
  EXPECT_EQ(MetricOf(*manager_, "millrace_queue_oldest_seconds{model=\"a\"}"), 0);
  EXPECT_GT(MetricOf(*manager_, "millrace_queue_oldest_seconds{model=\"b\"}"), 0);
  EXPECT_EQ(MetricOf(*manager_, "millrace_expected_wait_seconds{model=\"b\"}"), 0);
  EXPECT_EQ(MetricOf(*manager_, "millrace_models_ready{model=\"b\",version=\"1\",task=\"infer\"}"),
            1);
  EXPECT_EQ(MetricOf(*manager_, "millrace_model_memory_bytes{model=\"b\"}"), 7);  // "weights"
  EXPECT_EQ(MetricOf(*manager_, "millrace_model_idle{model=\"b\"}"), 0);
  const ServerStatus::Load load = status_.CurrentLoad();
  EXPECT_EQ(load.queue_depth, 3U);
  EXPECT_GT(load.queue_oldest_seconds, 0);
  EXPECT_EQ(load.expected_wait_seconds, 0);
  EXPECT_EQ(load.permits, runtime_->limiter().permits());
  EXPECT_EQ(status_.Queue("b"), (std::pair<size_t, size_t>{3, 256}));
  EXPECT_EQ(status_.Queue("nil"), (std::pair<size_t, size_t>{0, 0}));
}

}  // namespace
}  // namespace millrace::server
