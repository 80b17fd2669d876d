#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "models/core/model_info.h"

namespace millrace::server {

// The calls that do model work, as the label `method`, also those of front ends that were left out
// of the build. Each is a line in the methods.inc of its front end, with its name, the task of the
// models that it uses, and its name over gRPC as in "millrace.v1.TranslationService/Translate",
// which is empty for others.
enum class Method : uint8_t {
#define MILLRACE_METHOD(name, task, rpc) k##name,
#include "server/metrics/front_end_methods.inc"
#undef MILLRACE_METHOD
};

#define MILLRACE_METHOD(name, task, rpc) Method::k##name,
inline constexpr size_t kMethods =
    std::initializer_list<Method>{
#include "server/metrics/front_end_methods.inc"
    }
        .size();
#undef MILLRACE_METHOD

std::string_view ToString(Method method);
// Returns the task of the models that the method uses.
models::Task TaskOf(Method method);
// Returns true if this build has the front end of the method: another one is never called.
bool IsServed(Method method);
// Returns the service and the method over gRPC; empty for calls of other protocols.
std::string_view RpcMethod(Method method);

}  // namespace millrace::server
