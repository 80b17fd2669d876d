#include "server/control/idle_policy.h"

#include <algorithm>

namespace millrace::server {
namespace {

// The models that stay, while a plan is made.
class Staying {
 public:
  Staying(const std::vector<IdlePolicy::Loaded>& models, IdlePolicy::Plan& plan)
      : models_(models), plan_(plan), count_(models.size()) {
    for (size_t i = 0; i < models.size(); ++i) {
      bytes_ += models[i].bytes;
      if (!models[i].in_use) unused_.push_back(i);
    }
    // The longest unused is the last.
    std::ranges::stable_sort(
        unused_, [&](size_t a, size_t b) { return models_[b].last_used < models_[a].last_used; });
  }

  uint64_t bytes() const { return bytes_; }
  size_t count() const { return count_; }
  // Returns the model that may leave and was not used for the longest time; null: none may.
  const IdlePolicy::Loaded* next() const {
    return unused_.empty() ? nullptr : &models_[unused_.back()];
  }
  void UnloadNext(IdlePolicy::Reason reason) {
    plan_.unload.push_back({unused_.back(), reason});
    bytes_ -= next()->bytes;
    --count_;
    unused_.pop_back();
  }

 private:
  const std::vector<IdlePolicy::Loaded>& models_;
  IdlePolicy::Plan& plan_;
  std::vector<size_t> unused_;
  uint64_t bytes_ = 0;
  size_t count_;
};

}  // namespace

IdlePolicy::Plan IdlePolicy::Now(const std::vector<Loaded>& models, TimePoint now) const {
  Plan plan;
  Staying staying(models, plan);
  while (options_.unload_after > Duration{} && staying.next() != nullptr &&
         now - staying.next()->last_used >= options_.unload_after)
    staying.UnloadNext(Reason::kIdle);
  if (options_.memory_budget == 0) return plan;
  while (staying.bytes() > options_.memory_budget && staying.count() > 1 &&
         staying.next() != nullptr)
    staying.UnloadNext(Reason::kMemory);
  return plan;
}

IdlePolicy::Plan IdlePolicy::BeforeLoad(const std::vector<Loaded>& models, uint64_t bytes) const {
  Plan plan;
  Staying staying(models, plan);
  if (options_.memory_budget == 0) return plan;
  const auto fits = [&] {
    return staying.count() == 0 ||
           (bytes <= options_.memory_budget && staying.bytes() <= options_.memory_budget - bytes);
  };
  while (!fits() && staying.next() != nullptr) staying.UnloadNext(Reason::kMemory);
  plan.fits = fits();
  return plan;
}

}  // namespace millrace::server
