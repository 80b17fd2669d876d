#include "server/metrics/method.h"

namespace millrace::server {
namespace {

struct MethodInfo {
  std::string_view name;
  models::Task task;
  std::string_view rpc;
  bool is_served;
};

// Returns false for a front end that was left out; true for what front ends share, too.
constexpr bool IsBuilt(std::string_view folder) {
  struct FrontEnd {
    std::string_view name;
    bool is_built;
  };
  constexpr FrontEnd kFrontEnds[] = {
#define MILLRACE_FRONTEND(name, is_built) {#name, is_built},
#include "server/metrics/front_ends.inc"
#undef MILLRACE_FRONTEND
  };
  for (const FrontEnd& front_end : kFrontEnds) {
    if (front_end.name == folder) return front_end.is_built;
  }
  return true;
}

constexpr MethodInfo kInfos[] = {
#define MILLRACE_METHOD(name, task, rpc) \
  {#name, models::Task::task, rpc, IsBuilt(MILLRACE_METHOD_OF)},
#include "server/metrics/front_end_methods.inc"
#undef MILLRACE_METHOD
};

const MethodInfo& InfoOf(Method method) { return kInfos[static_cast<size_t>(method)]; }

}  // namespace

std::string_view ToString(Method method) { return InfoOf(method).name; }

models::Task TaskOf(Method method) { return InfoOf(method).task; }

bool IsServed(Method method) { return InfoOf(method).is_served; }

std::string_view RpcMethod(Method method) { return InfoOf(method).rpc; }

}  // namespace millrace::server
