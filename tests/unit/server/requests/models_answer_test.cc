#include "server/requests/models_answer.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "server/metrics/metrics.h"
#include "tests/fakes/fake_model.h"

namespace millrace::server {
namespace {

class ModelsAnswerTest : public ::testing::Test {
 protected:
  void Put(const std::string& name) {
    models::ModelInfo info;
    info.name = name;
    directory_.Put(std::make_shared<ServedModel>(
        std::make_unique<testing::FakeModel>(info, testing::ModelHooks{}), scheduler_,
        metrics_.ForModel(name)));
  }

  Metrics metrics_{BuildInfo{}};
  Scheduler scheduler_{{}};
  ModelDirectory directory_;
  int made_ = 0;
  ModelsAnswer<std::string> names_{directory_, [this](const ModelDirectory& models) {
                                     ++made_;
                                     std::string names;
                                     for (const auto& model : models.All())
                                       names += model->info().name + " ";
                                     return names;
                                   }};
};

TEST_F(ModelsAnswerTest, IsMadeOnceForEachChangeOfTheModels) {
  EXPECT_EQ(*names_.Get(), "");
  Put("a");
  const auto first = names_.Get();
  EXPECT_EQ(*first, "a ");
  EXPECT_EQ(names_.Get(), first);
  EXPECT_EQ(made_, 2);
  Put("a");  // another version
  Put("b");
  EXPECT_EQ(*names_.Get(), "a b ");
  EXPECT_EQ(made_, 3);
  directory_.Remove("x");
  EXPECT_EQ(*names_.Get(), "a b ");
  EXPECT_EQ(made_, 3);
  directory_.Remove("a");
  EXPECT_EQ(*names_.Get(), "b ");
  EXPECT_EQ(*names_.Get(), "b ");
  EXPECT_EQ(made_, 4);
  EXPECT_EQ(*first, "a ");
}

TEST_F(ModelsAnswerTest, AChangeWhileItIsMadeHasTheNextOneMade) {
  int made = 0;
  ModelsAnswer<size_t> count(directory_, [&](const ModelDirectory& models) {
    const size_t found = models.All().size();
    if (++made == 1) Put("late");
    return found;
  });
  EXPECT_EQ(*count.Get(), 0u);
  EXPECT_EQ(*count.Get(), 1u);
  EXPECT_EQ(*count.Get(), 1u);
  EXPECT_EQ(made, 2);
}

TEST_F(ModelsAnswerTest, ManyWhoAskAtOnceShareOne) {
  Put("a");
  std::vector<std::shared_ptr<const std::string>> found(8);
  {
    std::vector<JoiningThread> threads;
    for (auto& one : found) threads.emplace_back([&] { one = names_.Get(); });
  }
  for (const auto& one : found) EXPECT_EQ(one, found.front());
  EXPECT_EQ(made_, 1);
}

}  // namespace
}  // namespace millrace::server
