#include "server/control/model_manager.h"

#ifdef __linux__
#include <sys/inotify.h>
#endif
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "server/scheduling/thread_executor.h"
#include "tests/fakes/fake_reply.h"
#include "tests/fakes/metrics_page.h"
#include "tests/unit/server/control/repository_fixture.h"

namespace millrace::server {
namespace {

using models::Request;
using ::testing::ElementsAre;
using testing::FakeReply;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MetricsPageOf;

const std::function<bool()> kNever = [] { return false; };

class ModelManagerTest : public RepositoryTest {
 protected:
  void Submit(const std::string& model, Reply& reply) {
    auto job = std::make_unique<Job>(models::Input(), TimePoint::max(), reply,
                                     *directory_.Find(model, ""), Clock::Real());
    ASSERT_TRUE(scheduler_.Submit(job).ok());
  }
};

#ifdef __linux__
// Counts how often a folder is opened to be listed.
class FolderListings {
 public:
  explicit FolderListings(const std::filesystem::path& folder)
      : descriptor_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    EXPECT_GE(inotify_add_watch(descriptor_, folder.c_str(), IN_OPEN | IN_ONLYDIR), 0);
  }
  FolderListings(const FolderListings&) = delete;
  FolderListings& operator=(const FolderListings&) = delete;
  ~FolderListings() { close(descriptor_); }

  // Returns the number since the last call.
  int Take() {
    int count = 0;
    alignas(inotify_event) char bytes[16384];
    for (ssize_t size; (size = read(descriptor_, bytes, sizeof(bytes))) > 0;) {
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(bytes + at);
        count += event->len == 0;  // events of the folder itself, not of what is in it
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    }
    return count;
  }

 private:
  const int descriptor_;
};

TEST_F(ModelManagerTest, StartListsTheRepositoryEquallyOftenForAnyNumberOfModels) {
  FolderListings listings(root_.path());
  AddToDisk("model-0");
  ASSERT_TRUE(manager_->LoadAll(kNever).ok());
  const int for_one = listings.Take();
  EXPECT_GT(for_one, 0);
  for (int i = 1; i < 20; ++i) AddToDisk("model-" + std::to_string(i));
  ASSERT_TRUE(manager_->LoadAll(kNever).ok());
  EXPECT_EQ(listings.Take(), for_one);
  EXPECT_EQ(Serving("model-19"), 1);
}
#endif

TEST_F(ModelManagerTest, LoadsWarmsUpAndServes) {
  AddToDisk("m");
  AddToDisk("m", 3);
  int steps = 0;
  warm_up_inputs_ = 2;
  hooks_["m"].forward = [&](Request&) {
    ++steps;
    EXPECT_EQ(Serving("m"), 0);  // requests only go to a model that is warm
    EXPECT_EQ(Shown("m").state, ModelState::kLoading);
  };
  EXPECT_EQ(Shown("m").state, ModelState::kAvailable);
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_EQ(steps, 2);
  EXPECT_EQ(Serving("m"), 3);
  EXPECT_EQ(Shown("m").state, ModelState::kReady);
  EXPECT_EQ(Shown("m").info.version, 3);
  EXPECT_EQ(Shown("m").error, "");
}

TEST_F(ModelManagerTest, UnknownModelIsNotFoundAndNotShown) {
  AddToDisk("m");
  EXPECT_EQ(manager_->Load("nil").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(manager_->Models().size(), 1U);
}

class ModelListenerTest : public ModelManagerTest {
 protected:
  using Event = std::pair<std::string, std::optional<bool>>;

  // Returns the events that the listener received since the last call.
  std::vector<Event> TakeEvents() { return std::exchange(events_, {}); }
  void Listen() {
    manager_->SetListener([this](std::string_view model, std::optional<bool> ready) {
      events_.emplace_back(model, ready);
    });
  }

 private:
  std::vector<Event> events_;
};

TEST_F(ModelListenerTest, ReceivesTheExistingModelsAtOnce) {
  for (const char* name : {"broken", "good"}) AddToDisk(name);
  load_errors_["broken"] = absl::InvalidArgumentError("cut short");
  ASSERT_TRUE(manager_->LoadAll(kNever).ok());
  Listen();
  EXPECT_THAT(TakeEvents(), ElementsAre(Event("broken", false), Event("good", true)));
}

TEST_F(ModelListenerTest, ReceivesLoadsFailuresAndUnloads) {
  AddToDisk("m");
  Listen();
  load_errors_["m"] = absl::InvalidArgumentError("cut short");
  EXPECT_FALSE(manager_->Load("m").ok());
  EXPECT_THAT(TakeEvents(), ElementsAre(Event("m", false), Event("m", false)));
  load_errors_.clear();
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_THAT(TakeEvents(), ElementsAre(Event("m", false), Event("m", true)));
  // While another version is loaded, and when that fails, the old one serves.
  load_errors_["m"] = absl::InvalidArgumentError("cut short");
  EXPECT_FALSE(manager_->Load("m").ok());
  EXPECT_THAT(TakeEvents(), ElementsAre(Event("m", true), Event("m", true)));
  ASSERT_TRUE(manager_->Unload("m").ok());
  EXPECT_THAT(TakeEvents(), ElementsAre(Event("m", false)));
  std::filesystem::remove_all(root_.path() / "m");
  EXPECT_FALSE(manager_->Load("m").ok());
  EXPECT_THAT(TakeEvents(), ElementsAre(Event("m", false), Event("m", std::nullopt)));
  manager_->SetListener(nullptr);
  EXPECT_FALSE(manager_->Load("m").ok());
  EXPECT_THAT(TakeEvents(), IsEmpty());
}

TEST_F(ModelManagerTest, BadNameIsRefusedBeforeTheDiskIsTouched) {
  AddToDisk("m");
  for (const char* name : {"../m", "", ".", "m/1", "/etc"}) {
    EXPECT_EQ(manager_->Load(name).code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(manager_->Unload(name).code(), absl::StatusCode::kInvalidArgument) << name;
  }
}

TEST_F(ModelManagerTest, FailedLoadIsShownWithItsReason) {
  AddToDisk("m");
  load_errors_["m"] = absl::InvalidArgumentError("model.pt: is cut short");
  EXPECT_EQ(manager_->Load("m").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Serving("m"), 0);
  EXPECT_EQ(Shown("m").state, ModelState::kFailed);
  EXPECT_EQ(Shown("m").error, "model.pt: is cut short");

  load_errors_.clear();
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_EQ(Shown("m").state, ModelState::kReady);
  EXPECT_EQ(Shown("m").error, "");
}

TEST_F(ModelManagerTest, FailedWarmUpDoesNotServe) {
  AddToDisk("m");
  warm_up_inputs_ = 1;
  hooks_["m"].forward = [](Request&) { throw std::runtime_error("no kernel"); };
  EXPECT_EQ(manager_->Load("m").code(), absl::StatusCode::kInternal);
  EXPECT_EQ(Serving("m"), 0);
  EXPECT_THAT(Shown("m").error, HasSubstr("no kernel"));
}

TEST_F(ModelManagerTest, FailedLoadOfANewVersionKeepsTheOld) {
  AddToDisk("m");
  ASSERT_TRUE(manager_->Load("m").ok());
  AddToDisk("m", 2);
  load_errors_["m"] = absl::InternalError("broken");
  EXPECT_FALSE(manager_->Load("m").ok());
  EXPECT_EQ(Serving("m"), 1);
  EXPECT_EQ(Shown("m").state, ModelState::kReady);
  EXPECT_EQ(Shown("m").info.version, 1);
  EXPECT_EQ(Shown("m").error, "broken");
}

TEST_F(ModelManagerTest, ModelThatMayNotServeIsNotEvenLoaded) {
  AddToDisk("m");
  ASSERT_TRUE(manager_->Load("m").ok());
  AddToDisk("m", 2);
  refusals_["m"] = absl::FailedPreconditionError("too many forwards at once");
  load_exceptions_.insert("m");
  EXPECT_EQ(manager_->Load("m"), refusals_["m"]);
  EXPECT_EQ(Serving("m"), 1);
  EXPECT_EQ(Shown("m").error, "too many forwards at once");
}

TEST_F(ModelManagerTest, LoadAllGoesOnAfterAFailure) {
  for (const char* name : {"a", "b", "c"}) AddToDisk(name);
  load_errors_["b"] = absl::InternalError("broken");
  EXPECT_TRUE(manager_->LoadAll(kNever).ok());
  EXPECT_EQ(Serving("a"), 1);
  EXPECT_EQ(Serving("b"), 0);
  EXPECT_EQ(Serving("c"), 1);
  EXPECT_EQ(Shown("b").state, ModelState::kFailed);
}

TEST_F(ModelManagerTest, TellsWhichLoadsFailedLast) {
  for (const char* name : {"a", "b", "c"}) AddToDisk(name);
  load_errors_["b"] = load_errors_["c"] = absl::InternalError("broken");
  ASSERT_TRUE(manager_->LoadAll(kNever).ok());
  std::string page = MetricsPageOf(*manager_);
  EXPECT_THAT(page, HasSubstr("millrace_model_load_failures_total 2\n"
                              "millrace_model_load_failed{model=\"a\"} 0\n"
                              "millrace_model_load_failed{model=\"b\"} 1\n"
                              "millrace_model_load_failed{model=\"c\"} 1\n"));
  // A name that nobody has is no model that failed.
  EXPECT_FALSE(manager_->Load("nil").ok());
  load_errors_.erase("b");
  EXPECT_TRUE(manager_->Load("b").ok());
  EXPECT_FALSE(manager_->Load("c").ok());
  page = MetricsPageOf(*manager_);
  EXPECT_THAT(page, HasSubstr("millrace_model_load_failures_total 3\n"
                              "millrace_model_load_failed{model=\"a\"} 0\n"
                              "millrace_model_load_failed{model=\"b\"} 0\n"
                              "millrace_model_load_failed{model=\"c\"} 1\n"));
}

TEST_F(ModelManagerTest, LoadAllFailsWhenNothingServes) {
  EXPECT_FALSE(manager_->LoadAll(kNever).ok());  // an empty repository
  AddToDisk("a");
  load_errors_["a"] = absl::InternalError("broken");
  const absl::Status status = manager_->LoadAll(kNever);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.ToString(), HasSubstr("none of the 1 models"));
}

TEST_F(ModelManagerTest, LoadAllStopsBetweenModels) {
  for (const char* name : {"a", "b"}) AddToDisk(name);
  EXPECT_TRUE(manager_->LoadAll([this] { return Serving("a") != 0; }).ok());
  EXPECT_EQ(Serving("a"), 1);
  EXPECT_EQ(Serving("b"), 0);
}

// Out of memory in a loader, say: it costs that load alone.
TEST_F(ModelManagerTest, ExceptionOfALoaderIsAFailedLoad) {
  AddToDisk("m");
  load_exceptions_.insert("m");
  EXPECT_EQ(manager_->Load("m").code(), absl::StatusCode::kInternal);
  EXPECT_EQ(Shown("m").state, ModelState::kFailed);
  load_exceptions_.clear();
  EXPECT_TRUE(manager_->Load("m").ok());
}

TEST_F(ModelManagerTest, UnloadTakesItOutOfService) {
  AddToDisk("m");
  bool destroyed = false;
  hooks_["m"].destroyed = [&] { destroyed = true; };
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_TRUE(manager_->Unload("m").ok());
  EXPECT_EQ(Serving("m"), 0);
  EXPECT_TRUE(destroyed);
  EXPECT_EQ(Shown("m").state, ModelState::kAvailable);
  EXPECT_EQ(manager_->Unload("m").code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(manager_->Load("m").ok());
}

TEST_F(ModelManagerTest, RequestsInFlightFinishOnTheVersionTheyCameTo) {
  AddToDisk("m");
  std::barrier inside(2);
  std::barrier release(2);
  std::atomic<int> destroyed{0};
  hooks_["m"] = {.forward =
                     [&](Request&) {
                       inside.arrive_and_wait();
                       release.arrive_and_wait();
                     },
                 .complete =
                     [](Request& request) {
                       request.Emit(models::TranslateOutput());
                       request.Finish(absl::OkStatus());
                     },
                 .destroyed = [&] { ++destroyed; }};
  ASSERT_TRUE(manager_->Load("m").ok());
  ThreadExecutor executor(1, device_, scheduler_);
  ASSERT_TRUE(executor.Start({}).ok());
  FakeReply running, waiting, on_new;
  Submit("m", running);
  inside.arrive_and_wait();
  Submit("m", waiting);

  AddToDisk("m", 2);
  hooks_["m"] = {};
  ASSERT_TRUE(manager_->Load("m").ok());
  EXPECT_EQ(Serving("m"), 2);
  EXPECT_EQ(destroyed, 0);
  Submit("m", on_new);
  release.arrive_and_wait();
  EXPECT_TRUE(running.Wait().ok());
  inside.arrive_and_wait();
  release.arrive_and_wait();
  EXPECT_TRUE(waiting.Wait().ok());
  EXPECT_TRUE(on_new.Wait().ok());
  EXPECT_EQ(running.outputs().size(), 1U);  // the old one answers so
  EXPECT_EQ(waiting.outputs().size(), 1U);
  EXPECT_EQ(on_new.outputs().size(), 0U);
  scheduler_.Close();
  executor.Join();
  EXPECT_EQ(destroyed, 1);
}

// Sixteen clients, while the model is loaded and unloaded all the time: who finds it is answered.
TEST_F(ModelManagerTest, ReloadDisturbsNoRequest) {
  constexpr int kClients = 16;
  AddToDisk("m");
  ASSERT_TRUE(manager_->Load("m").ok());
  ThreadExecutor executor(4, device_, scheduler_);
  ASSERT_TRUE(executor.Start({}).ok());
  std::atomic<int> running{kClients};
  std::barrier start(kClients + 1);
  std::vector<JoiningThread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&] {
      start.arrive_and_wait();
      for (int i = 0; i < 50; ++i) {
        const auto model = directory_.Find("m", "");
        if (!model.ok()) {
          EXPECT_EQ(model.status().code(), absl::StatusCode::kNotFound);
          continue;
        }
        FakeReply reply;
        auto job =
            std::make_unique<Job>(models::Input(), TimePoint::max(), reply, *model, Clock::Real());
        ASSERT_TRUE(scheduler_.Submit(job).ok());
        EXPECT_TRUE(reply.Wait().ok());
        manager_->Models();
      }
      --running;
    });
  }
  start.arrive_and_wait();
  while (running.load() > 0) {
    EXPECT_TRUE(manager_->Load("m").ok());
    EXPECT_TRUE(manager_->Unload("m").ok());
    EXPECT_TRUE(manager_->Load("m").ok());
  }
  clients.clear();
  scheduler_.Close();
}

}  // namespace
}  // namespace millrace::server
