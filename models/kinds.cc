#include "models/kinds.h"

#include "millrace/config/v1/model.pb.h"

#define MILLRACE_MODEL_KIND(kind)       \
  namespace millrace::kind {            \
  extern const models::ModelKind kKind; \
  }
#include "models/kinds.inc"
#undef MILLRACE_MODEL_KIND

namespace millrace::models {

const ModelKinds& BuiltInKinds() {
#define MILLRACE_MODEL_KIND(kind) &kind::kKind,
  static const ModelKind* const kinds[] = {
#include "models/kinds.inc"
  };
#undef MILLRACE_MODEL_KIND
  static const ModelKinds all = {&config::v1::ModelConfig::default_instance(), kinds};
  return all;
}

}  // namespace millrace::models
