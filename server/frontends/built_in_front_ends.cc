#include "server/frontends/built_in_front_ends.h"

#define MILLRACE_FRONTEND(name)            \
  namespace millrace::front_ends::name {   \
  extern const server::FrontEnd kFrontEnd; \
  }
#include "server/frontends/built_front_ends.inc"
#undef MILLRACE_FRONTEND

namespace millrace::server {

std::span<const FrontEnd* const> BuiltInFrontEnds() {
#define MILLRACE_FRONTEND(name) &front_ends::name::kFrontEnd,
  static const FrontEnd* const all[] = {
#include "server/frontends/built_front_ends.inc"
  };
#undef MILLRACE_FRONTEND
  return all;
}

}  // namespace millrace::server
