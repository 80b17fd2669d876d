#include "server/frontends/front_end.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "httplib.h"
#include "server/frontends/grpc/answer.h"
#include "server/frontends/http/error_status.h"
#include "server/frontends/http/http_translator.h"
#include "server/frontends/http/shared_path.h"
#include "server/http/http_routes.h"
#include "server/http/http_server.h"
#include "tests/unit/server/frontends/toy_protocol/shout/shout.pb.h"

namespace millrace::front_ends::shout {
namespace {

using toy::v1::ShoutMessage;

// POST /shout translates its body to Portuguese, in capital letters.
void AddRoutes(const server::FrontEndParts& parts, const server::HttpParts& http) {
  const auto bytes = std::make_shared<std::atomic<size_t>>(0);
  parts.metrics.AddOwner([bytes](server::MetricWriter& writer) {
    writer.Counter("millrace_shouted_bytes_total", "Bytes that were shouted.", bytes->load());
  });
  http.server.routes().Post("/shout", [translator = http.translator, bytes](
                                          const httplib::Request& request,
                                          httplib::Response& response) {
    bytes->fetch_add(request.body.size());
    server::TranslationRequest wanted;
    wanted.input.texts = {request.body};
    wanted.input.source_language = "en";
    wanted.input.target_language = "pt";
    const auto result = translator->Translate(request, response, "", std::move(wanted));
    if (!result.ok()) return server::SendErrorStatus(response, result.status());
    response.set_content(absl::AsciiStrToUpper(result->translations.front().text), "text/plain");
  });
  http.shared_paths.Offer(
      "POST /translate",
      [](const httplib::Request&, httplib::Response& response, const std::string& body) {
        if (body != "shout") return false;
        response.set_content("SHOUT", "text/plain");
        return true;
      });
}

class ShoutService final : public server::RpcService {
 public:
  ShoutService() : RpcService("millrace.toy.v1.Shout") {
    Serve("Say", server::Answering<ShoutMessage, ShoutMessage>(
                     [](const server::ByteCall&, const ShoutMessage& said, ShoutMessage& answer) {
                       answer.set_text(absl::AsciiStrToUpper(said.text()));
                       return absl::OkStatus();
                     }));
  }
};

void AddServices(const server::FrontEndParts&, server::GrpcParts& grpc) {
  grpc.services.push_back(std::make_unique<ShoutService>());
}

// Sends "HEY" to everybody, on a port of its own.
class ShoutServer final : public server::PortServer {
 public:
  explicit ShoutServer(const std::string& address) : http_({.address = address}) {
    http_.routes().Get("/hey", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("HEY", "text/plain");
    });
  }

  absl::Status Start() override { return http_.Start(); }
  int port() const override { return http_.port(); }
  void Stop() override { http_.Stop(); }

 private:
  HttpServer http_;
};

// This build has no field for the address, which settings.inc would add: another one stands for it.
constexpr auto kAddress = &ServerConfig::trace_service_name;

std::unique_ptr<server::PortServer> MakeServer(const server::FrontEndParts& parts, int) {
  return std::make_unique<ShoutServer>(parts.config.*kAddress);
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {.name = "shout",
                                    .add_routes = &AddRoutes,
                                    .add_services = &AddServices,
                                    .address = kAddress,
                                    .make_server = &MakeServer};

}  // namespace millrace::front_ends::shout
