#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "mps_runtime/base/mutex.h"
#include "server/scheduling/model_directory.h"

namespace millrace::server {

// An answer that depends on the serving models alone. It is made at the first request after they
// changed, and shared until they change again. It must hold no model, which would then outlive its
// removal. Thread-safe; callers wait while it is made.
template <typename Answer>
class ModelsAnswer {
 public:
  using Make = std::function<Answer(const ModelDirectory&)>;

  // The directory must outlive it.
  ModelsAnswer(const ModelDirectory& models, Make make) : models_(models), make_(std::move(make)) {}

  std::shared_ptr<const Answer> Get() MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    // Read before the models: if they change meanwhile, the next call makes a new answer.
    const uint64_t changes = models_.changes();
    if (answer_ == nullptr || made_at_ != changes) {
      answer_ = std::make_shared<const Answer>(make_(models_));
      made_at_ = changes;
    }
    return answer_;
  }

 private:
  const ModelDirectory& models_;
  const Make make_;
  Mutex mu_;
  std::shared_ptr<const Answer> answer_ MILLRACE_GUARDED_BY(mu_);
  uint64_t made_at_ MILLRACE_GUARDED_BY(mu_) = 0;
};

}  // namespace millrace::server
