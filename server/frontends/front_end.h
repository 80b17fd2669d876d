#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/config/server_config.h"
#include "server/metrics/metrics.h"
#include "server/requests/model_shelf.h"
#include "server/requests/pull_action.h"
#include "server/requests/repository_actions.h"
#include "server/requests/server_view.h"
#include "server/requests/services.h"

namespace millrace {
class HttpServer;
class PollLoop;
class WebSocketServer;
}  // namespace millrace

// A front end is a folder in server/frontends/ that translates a protocol to server/requests/ and
// back. It defines a FrontEnd and has a line in server/frontends/frontends.inc.
namespace millrace::server {

class CommonTrailer;
class ConvictedRequests;
class HttpTranslator;
class LoadQueue;
class ModelManager;
class RpcService;
class ServerStatus;
class SharedPaths;
class StepTimeline;

// The parts of the server that front ends ask, all thread-safe. They outlive all that front ends
// make.
struct FrontEndParts {
  const ServerConfig& config;
  Services& services;
  const ServerView& view;
  Metrics& metrics;  // AddOwner for the numbers of the front end itself
  StepTimeline& steps;
  PollLoop& session_loop;  // for sessions that only move bytes
  RepositoryActions repository;
  ModelShelf shelf;
  std::function<std::vector<PullView>()> pulls;  // the models that are being fetched
  std::function<bool()> started;                 // false: requests for work are refused

  // The parts that need libtorch, for what shows and controls the process.
  struct Control {
    ModelManager& models;
    const ServerStatus& status;
    LoadQueue& loads;
    ConvictedRequests* convicted = nullptr;  // null: there are no executors
  };
  const Control* control = nullptr;  // null only in tests

  // Returns true if models are loaded and unloaded over HTTP. Certificates, which HTTP does not ask
  // for, are no reason to let everybody in by it.
  bool LoadsModelsOverHttp() const {
    return services.keys != nullptr || config.tls_client_ca.empty();
  }
};

// The parts of the HTTP server that front ends add to. The servers outlive the routes.
struct HttpParts {
  HttpServer& server;
  WebSocketServer& web_sockets;
  SharedPaths& shared_paths;
  // Translates for all protocols over HTTP.
  std::shared_ptr<HttpTranslator> translator;
};

// The parts of the gRPC server that front ends add to.
struct GrpcParts {
  std::vector<std::unique_ptr<RpcService>> services;
  // Goes to the clients of all services with the ends of calls; null: nothing. A service has it. At
  // most one front end may have such a trailer.
  const CommonTrailer* trailer = nullptr;
  // Ends the calls that last for as long as their clients want; null if there are none. At most one
  // front end may have such calls.
  std::function<void()> end_streams;
};

// The server of a front end on a port of its own. Main thread only.
class PortServer {
 public:
  PortServer() = default;
  PortServer(const PortServer&) = delete;
  PortServer& operator=(const PortServer&) = delete;
  virtual ~PortServer() = default;  // stops

  // Returns OK once it listens. The error of a port in use names the address.
  virtual absl::Status Start() = 0;
  virtual int port() const = 0;  // the real one, after Start
  // Ends all connections. Idempotent.
  virtual void Stop() = 0;
};

// A protocol. What is null it does not have.
struct FrontEnd {
  // As in frontends.inc; also the name of the port, in the port file and among the sockets that a
  // service manager passes.
  std::string_view name;
  // Adds its routes over HTTP. The parts outlive the server.
  void (*add_routes)(const FrontEndParts& parts, const HttpParts& http) = nullptr;
  // Adds its services over gRPC, once the models are loaded.
  void (*add_services)(const FrontEndParts& parts, GrpcParts& grpc) = nullptr;
  // The address of its own port, which is not served if it is empty; and its server, which takes a
  // socket that listens already unless `inherited` is -1.
  std::string ServerConfig::*address = nullptr;
  std::unique_ptr<PortServer> (*make_server)(const FrontEndParts& parts, int inherited) = nullptr;
};

}  // namespace millrace::server
