#include "server/frontends/front_end.h"

#include <memory>

#include "mps_runtime/runtime.h"
#include "server/control/server_status.h"
#include "server/frontends/console/console_routes.h"
#include "server/frontends/console/live_view.h"
#include "server/frontends/console/shelf_view.h"

namespace millrace::front_ends::console {
namespace {

server::LiveView::Device DeviceOf(runtime::Runtime& runtime) {
  return {.name = runtime.provenance().device,
          .permits = runtime.limiter().permits(),
          .permits_in_use = runtime.limiter().in_use(),
          .streams = runtime.stream_pool().stats(),
          .memory_bytes = runtime.device_bytes(),
          .graph_cache = runtime.graph_cache_stats()};
}

void AddRoutes(const server::FrontEndParts& parts, const server::HttpParts& http) {
  if (!parts.config.console) return;
  const auto live = std::make_shared<server::LiveView>(server::LiveView::Sources{
      .view = parts.view,
      .services = parts.services,
      .steps = parts.steps,
      .device = [control = parts.control] { return DeviceOf(control->status.runtime()); },
      .loads_models = parts.LoadsModelsOverHttp(),
      .pulls = parts.pulls});
  server::AddConsoleRoutes(http.server, live, std::make_shared<server::ShelfView>(parts.shelf),
                           parts.services.keys, parts.started);
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {.name = "console", .add_routes = &AddRoutes};

}  // namespace millrace::front_ends::console
