#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <utility>

#include "models/repository/model_repository.h"
#include "server/control/model_manager.h"
#include "server/metrics/metrics.h"
#include "server/scheduling/model_directory.h"
#include "server/scheduling/scheduler.h"
#include "tests/fakes/fake_device.h"
#include "tests/fakes/fake_model.h"
#include "tests/fakes/temporary_folder.h"

namespace millrace::server {

// A repository on disk whose models are fakes, and a manager of it.
class RepositoryTest : public ::testing::Test {
 protected:
  // The clock must outlive this.
  explicit RepositoryTest(Clock& clock = Clock::Real()) : scheduler_({.workers = 4}, clock) {
    repository_ = std::make_unique<models::ModelRepository>(
        root_.path(), [this](const models::ModelConfig&, const std::filesystem::path&,
                             models::ModelInfo info) { return Make(std::move(info)); });
    manager_ = std::make_unique<ModelManager>(
        *repository_, device_, *context_, scheduler_, metrics_, directory_,
        [this](const models::ModelRepository::Package& p) { return refusals_[p.name]; });
  }

  void AddToDisk(const std::string& name, int version = 1) {
    const auto folder = root_.path() / name / std::to_string(version);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "model.pt") << "weights";
    std::ofstream(folder / "model.pbtxt")
        << "torchscript { file: 'model.pt'\n"
           "  inputs { name: 'INPUT0' datatype: 'FP32' shape: 4 }\n"
           "  outputs { name: 'OUTPUT0' datatype: 'FP32' shape: 4 } }\n";
  }

  // The version that serves; 0: none.
  int64_t Serving(const std::string& name) const {
    const auto model = directory_.Find(name, "");
    return model.ok() ? (*model)->info().version : 0;
  }
  ModelStatusView Shown(const std::string& name) const {
    for (const ModelStatusView& view : manager_->Models()) {
      if (view.info.name == name) return view;
    }
    ADD_FAILURE() << name << " is not shown";
    return {};
  }

  // The hooks of models made from now on, by name; without them they load and do nothing.
  std::map<std::string, testing::ModelHooks> hooks_;
  std::map<std::string, absl::Status> load_errors_;
  std::set<std::string> load_exceptions_;
  std::map<std::string, absl::Status> refusals_;  // before they are loaded
  std::map<std::string, int> loads_;              // calls of the factory
  int warm_up_inputs_ = 0;

  const testing::TemporaryFolder root_;
  testing::FakeDevice device_;
  const std::unique_ptr<runtime::WorkerContext> context_ = device_.EnterWorker();
  Metrics metrics_{BuildInfo{}};
  Scheduler scheduler_;  // for 4 workers, the most that a test starts
  ModelDirectory directory_;
  std::unique_ptr<models::ModelRepository> repository_;
  std::unique_ptr<ModelManager> manager_;

 private:
  absl::StatusOr<std::unique_ptr<models::Model>> Make(models::ModelInfo info) {
    ++loads_[info.name];
    if (const auto error = load_errors_.find(info.name); error != load_errors_.end())
      return error->second;
    if (load_exceptions_.contains(info.name)) throw std::bad_alloc();
    const testing::ModelHooks hooks = hooks_[info.name];
    return std::make_unique<testing::FakeModel>(std::move(info), hooks, warm_up_inputs_);
  }
};

}  // namespace millrace::server
