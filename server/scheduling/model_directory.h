#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "mps_runtime/base/mutex.h"
#include "server/scheduling/served_model.h"

namespace millrace::server {

// The models that serve now, by name, some of which may be idle (ServedModel). It is looked up once
// for each request. A model that is replaced or removed lives until its last request has ended.
// Thread-safe.
class ModelDirectory {
 public:
  // Finds a model by name and version; an empty version stands for the one that is loaded. If none
  // has the name, one whose name differs only in the case of its letters is meant. The NOT_FOUND
  // error lists the models that serve.
  absl::StatusOr<std::shared_ptr<ServedModel>> Find(std::string_view name,
                                                    std::string_view version) const
      MILLRACE_EXCLUDES(mu_);
  // Does the same as Find among the models of a task: the error lists those, and it is
  // FAILED_PRECONDITION when the model has another task. An empty name
  // means the only model of that task; if there are several, INVALID_ARGUMENT lists them.
  absl::StatusOr<std::shared_ptr<ServedModel>> FindForTask(models::Task task, std::string_view name,
                                                           std::string_view version) const
      MILLRACE_EXCLUDES(mu_);
  // Finds the only translator between two BCP 47 tags, either of which may be empty (any).
  absl::StatusOr<std::shared_ptr<ServedModel>> FindTranslator(std::string_view source,
                                                              std::string_view target) const
      MILLRACE_EXCLUDES(mu_);

  // Returns the model whose place it takes, or null.
  std::shared_ptr<ServedModel> Put(std::shared_ptr<ServedModel> model) MILLRACE_EXCLUDES(mu_);
  // Returns the model, or null when there is no such one.
  std::shared_ptr<ServedModel> Remove(std::string_view name) MILLRACE_EXCLUDES(mu_);

  // These change a model only if it is still the one that serves, so that a model which somebody
  // has removed or replaced meanwhile does not come back. They return false if it is not.
  //
  // Puts `next`, of the same name, in the place of `current`.
  bool Replace(const std::shared_ptr<ServedModel>& current, std::shared_ptr<ServedModel> next)
      MILLRACE_EXCLUDES(mu_);
  // Does the same if nothing but this and the caller's reference holds `current`: no request does,
  // and none can get it any more. Otherwise returns false.
  bool ReplaceUnused(const std::shared_ptr<ServedModel>& current, std::shared_ptr<ServedModel> next)
      MILLRACE_EXCLUDES(mu_);
  // Gives an idle model its weights (ServedModel::Load), which are taken only if it returns true.
  bool Load(const std::shared_ptr<ServedModel>& idle, std::unique_ptr<const models::Model>& model,
            LoadCost cost) MILLRACE_EXCLUDES(mu_);

  // Returns the number of times that a model was put in, removed or loaded.
  uint64_t changes() const MILLRACE_EXCLUDES(mu_);
  bool empty() const MILLRACE_EXCLUDES(mu_);
  // Returns all models, sorted by name.
  std::vector<std::shared_ptr<ServedModel>> All() const MILLRACE_EXCLUDES(mu_);
  std::vector<std::shared_ptr<ServedModel>> AllForTask(models::Task task) const
      MILLRACE_EXCLUDES(mu_);

 private:
  // Returns the place of this model, or null if it does not serve.
  std::shared_ptr<ServedModel>* PlaceOf(const ServedModel& model) MILLRACE_REQUIRES(mu_);

  mutable Mutex mu_;
  std::map<std::string, std::shared_ptr<ServedModel>, std::less<>> models_ MILLRACE_GUARDED_BY(mu_);
  uint64_t changes_ MILLRACE_GUARDED_BY(mu_) = 0;
};

}  // namespace millrace::server
