#include "server/local_models.h"

#include "models/repository/model_factory.h"
#include "mps_runtime/libtorch_platform.h"
#include "mps_runtime/probe/operator_probe.h"

namespace millrace::server {

models::ModelFactory MakeFactory(const ServerConfig& config, const runtime::Runtime& runtime,
                                 const models::ModelCaches& caches) {
  const bool few_shapes = runtime.max_compiled_shapes() != 0 ||
                          config.graph_cache == runtime::GraphCachePolicy::kFrozen;
  return models::MakeModelFactory(
      runtime.device(), few_shapes ? models::ShapePolicy::kFew : models::ShapePolicy::kPadded,
      caches);
}

Compute LocalCompute() {
  return {.platform = runtime::Libtorch(),
          .operators = runtime::OperatorNames(),
          .local_models = &MakeFactory};
}

}  // namespace millrace::server
