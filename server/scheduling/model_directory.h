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

// The models that serve now, by name. Looked up once a request; a model that is replaced or removed
// lives on until its last request has ended. Thread-safe.
class ModelDirectory {
 public:
  // NOT_FOUND lists what there is. Empty version: the one that is loaded.
  absl::StatusOr<std::shared_ptr<ServedModel>> Find(std::string_view name,
                                                    std::string_view version) const
      MILLRACE_EXCLUDES(mu_);
  // Find, and FAILED_PRECONDITION when the model is of another task. With an empty name: the only
  // model of that task, else INVALID_ARGUMENT lists the choice.
  absl::StatusOr<std::shared_ptr<ServedModel>> FindForTask(models::Task task, std::string_view name,
                                                           std::string_view version) const
      MILLRACE_EXCLUDES(mu_);
  // The only translator between two BCP 47 tags, either of which may be empty (any).
  absl::StatusOr<std::shared_ptr<ServedModel>> FindTranslator(std::string_view source,
                                                              std::string_view target) const
      MILLRACE_EXCLUDES(mu_);

  void Put(std::shared_ptr<ServedModel> model) MILLRACE_EXCLUDES(mu_);
  // False when there is none.
  bool Remove(std::string_view name) MILLRACE_EXCLUDES(mu_);
  // How often models were put in or removed.
  uint64_t changes() const MILLRACE_EXCLUDES(mu_);
  // By name.
  std::vector<std::shared_ptr<ServedModel>> All() const MILLRACE_EXCLUDES(mu_);

 private:
  mutable Mutex mu_;
  std::map<std::string, std::shared_ptr<ServedModel>, std::less<>> models_ MILLRACE_GUARDED_BY(mu_);
  uint64_t changes_ MILLRACE_GUARDED_BY(mu_) = 0;
};

}  // namespace millrace::server
