#include "models/loaders.h"

#define MILLRACE_MODEL_KIND(kind)           \
  namespace millrace::kind {                \
  extern const models::ModelLoader kLoader; \
  }
#include "models/kinds.inc"
#undef MILLRACE_MODEL_KIND

namespace millrace::models {

std::span<const ModelLoader* const> BuiltInLoaders() {
#define MILLRACE_MODEL_KIND(kind) &kind::kLoader,
  static const ModelLoader* const loaders[] = {
#include "models/kinds.inc"
  };
#undef MILLRACE_MODEL_KIND
  return loaders;
}

}  // namespace millrace::models
