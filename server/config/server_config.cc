#include "server/config/server_config.h"

#include <map>
#include <string>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/repository/model_sources.h"
#include "server/config/exposed_address.h"
#include "server/config/options.h"
#include "server/config/values.h"
#include "server/net/address_policy.h"

namespace millrace {
std::filesystem::path DefaultSafetyProfile(const std::string& models) {
  const auto sources = models::ParseModelSources(models);
  const std::filesystem::path folder =
      sources.ok() ? sources->front().folder : std::filesystem::path(models);
  return folder / "safety-profile.json";
}

namespace {

// Checks that no two servers have the same address. Port 0 is another one each time.
absl::Status CheckAddresses(const ServerConfig& config) {
  std::map<std::string, std::string> options;
  for (const Option& option : ServeOptions()) {
    if (!option.name.ends_with("-address")) continue;
    const auto address = ParseListenAddress(option.get(config));
    if (!address.ok() || (address->socket_file.empty() && address->tcp.port == 0)) continue;
    const auto [same, is_new] = options.emplace(
        address->socket_file.empty() ? ToString(address->tcp) : address->socket_file, option.name);
    if (!is_new) {
      return InvalidArgument("--", option.name, ": ", option.get(config), " is the address of --",
                             same->second, " already; each needs its own");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Validate(const ServerConfig& config) {
  constexpr std::chrono::milliseconds kLeastConnectionAge = std::chrono::seconds(1);
  if (config.max_connection_age.count() != 0 && config.max_connection_age < kLeastConnectionAge) {
    return InvalidArgument("--max-connection-age: ", FormatDuration(config.max_connection_age),
                           " is too short, allowed is 0 (no limit) or ",
                           FormatDuration(kLeastConnectionAge), "..24h");
  }
  if (config.max_connection_age_grace.count() != 0 && config.max_connection_age.count() == 0) {
    return InvalidArgument("--max-connection-age-grace: needs --max-connection-age too");
  }
  constexpr std::chrono::milliseconds kLeastIdleTime = std::chrono::seconds(1);
  if (config.unload_idle_after.count() != 0 && config.unload_idle_after < kLeastIdleTime) {
    return InvalidArgument("--unload-idle-after: ", FormatDuration(config.unload_idle_after),
                           " is too short, allowed is 0 (never) or ",
                           FormatDuration(kLeastIdleTime), "..", FormatDuration(kMostIdleTime));
  }
  if (config.graph_cache_new_shape == runtime::NewShape::kRefuse &&
      config.graph_cache != runtime::GraphCachePolicy::kFrozen) {
    return InvalidArgument(
        "--graph-cache-new-shape: refuse needs --graph-cache frozen; with grow, allowed is eager");
  }
  if (const size_t cards = config.device_numbers.size();
      cards > 0 && cards != static_cast<size_t>(config.executors)) {
    return InvalidArgument("--executors: ", config.executors,
                           " is not allowed, since --device names ", cards,
                           " card(s), each for one executor");
  }
  if (config.spare_executors > 0 && config.executors == 0) {
    return InvalidArgument(
        "--spare-executors: there are no executors to replace; --executors of 1 or more is needed");
  }
  if (config.executor_cpu_fallback && config.executors == 0) {
    return InvalidArgument(
        "--executor-cpu-fallback: there are no executors; --executors of 1 or more is needed");
  }
  if (config.executor_max_growth > 0 && config.spare_executors == 0) {
    return InvalidArgument(
        "--executor-max-growth: needs --spare-executors of 1 or more, which take over");
  }
  if (config.executor_max_age.count() > 0 && config.spare_executors == 0) {
    return InvalidArgument(
        "--executor-max-age: needs --spare-executors of 1 or more, which take over");
  }
  if (config.tls_cert.empty() != config.tls_key.empty()) {
    return InvalidArgument(config.tls_cert.empty() ? "--tls-key: needs --tls-cert too"
                                                   : "--tls-cert: needs --tls-key too");
  }
  if (!config.tls_client_ca.empty() && config.tls_cert.empty()) {
    return InvalidArgument("--tls-client-ca: needs --tls-cert and --tls-key too");
  }
  if (!config.insecure) {
    if (config.tls_cert.empty() && IsExposed(config.grpc_address)) {
      return ReachableWithoutTls(
          "grpc-address", config.grpc_address,
          "give --tls-cert and --tls-key, use 127.0.0.1, or accept it with --insecure");
    }
    constexpr char kPlain[] =
        "use 127.0.0.1 behind a proxy that ends TLS, or accept it with --insecure";
    if (IsExposed(config.http_address))
      return ReachableWithoutTls("http-address", config.http_address, kPlain);
    if (IsExposed(config.metrics_address))
      return ReachableWithoutTls("metrics-address", config.metrics_address, kPlain);
  }
  MILLRACE_RETURN_IF_ERROR(CheckAddresses(config));
  for (const Option& option : ServeOptions()) {
    if (!option.check) continue;
    MILLRACE_RETURN_IF_ERROR(option.check(config));
  }
  return absl::OkStatus();
}

OpenAccess AdminAccess(const ServerConfig& config) {
  if (!config.api_keys.empty() || !config.tls_client_ca.empty()) return {};
  const bool exposed = IsExposed(config.grpc_address) || IsExposed(config.http_address);
  const std::string http = config.http_address.empty() ? "" : StrCat(" or ", config.http_address);
  const char* hint = exposed ? "--api-keys FILE asks for a key"
                             : "if others use this machine, --api-keys FILE asks for a key";
  return {
      StrCat("AdminService is open: ", exposed ? "everyone who" : "every user of this machine who",
             " reaches ", config.grpc_address, http, " may load and unload models; ", hint),
      exposed};
}

}  // namespace millrace
