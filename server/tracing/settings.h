#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/tracing/endpoint.h"
#include "server/tracing/trace_queue.h"

namespace millrace::tracing {

// Where and how traces are exported.
struct Settings {
  Protocol protocol = Protocol::kGrpc;
  Endpoint endpoint;  // over HTTP with the whole path
  std::vector<std::pair<std::string, std::string>> headers;
  std::chrono::milliseconds timeout{10'000};  // the timeout of one export
  // PEM files; empty: the system's authorities, no certificate.
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;

  double sample_ratio = 1;
  bool follows_parent = true;
  TraceQueue::Limits queue;
  std::chrono::milliseconds interval{5000};  // between two exports of what there is
  std::vector<std::pair<std::string, std::string>> resource;  // with service.name
};

// The process's own settings, which win over OpenTelemetry's variables.
struct Flags {
  std::string endpoint = "auto";            // a URL; "off": no traces; "auto": as the variables say
  std::optional<Protocol> protocol = {};    // none: as the variables say, else by the port
  std::optional<double> sample_ratio = {};  // none: as the variables say, else all
  std::string service_name = {};            // empty: as the variables say, else "millrace"
};

// Reads OpenTelemetry's variables (OTEL_*), whose meaning is that of its specification. Returns
// nullopt if traces are off: neither the flags nor the variables name an endpoint, or they say so.
// A variable that cannot be read is given to `warn` and counts as not set.
std::optional<Settings> ReadSettings(
    const Flags& flags, const std::map<std::string, std::string, std::less<>>& environment,
    const std::function<void(const std::string& warning)>& warn);

}  // namespace millrace::tracing
