#include <gtest/gtest.h>

#include "server/config/server_config.h"

namespace millrace {
namespace {

bool Mentions(const absl::Status& status, const std::string& text) {
  return std::string(status.message()).find(text) != std::string::npos;
}

TEST(ValidateTest, DefaultsAreValid) { EXPECT_TRUE(Validate(ServerConfig()).ok()); }

TEST(ValidateTest, OnlyAFrozenGraphCacheRefusesShapes) {
  ServerConfig config;
  config.graph_cache_new_shape = runtime::NewShape::kRefuse;
  EXPECT_TRUE(Mentions(Validate(config), "--graph-cache-new-shape: refuse needs"));
  config.graph_cache = runtime::GraphCachePolicy::kFrozen;
  EXPECT_TRUE(Validate(config).ok());
}

TEST(ValidateTest, EachCardHasAnExecutorOfItsOwn) {
  ServerConfig config;
  config.device = runtime::DeviceType::kCuda;
  config.device_numbers = {0, 1};
  EXPECT_TRUE(Mentions(Validate(config), "--executors: 0 is not allowed, since --device names 2"));
  config.executors = 2;
  EXPECT_TRUE(Validate(config).ok());
  config.executors = 1;
  config.device_numbers = {1};
  EXPECT_TRUE(Validate(config).ok());
}

TEST(ValidateTest, SparesNeedExecutorsAndAnAgeNeedsSpares) {
  ServerConfig config;
  config.spare_executors = 1;
  EXPECT_TRUE(Mentions(Validate(config), "--spare-executors: there are no executors to replace"));
  config.executors = 1;
  EXPECT_TRUE(Validate(config).ok());
  config.spare_executors = 0;
  config.executor_max_growth = 1;
  EXPECT_TRUE(Mentions(Validate(config), "--executor-max-growth: needs --spare-executors of 1"));
  config.executor_max_growth = 0;
  config.executor_max_age = std::chrono::hours(1);
  EXPECT_TRUE(Mentions(Validate(config), "--executor-max-age: needs --spare-executors of 1"));
  config.spare_executors = 1;
  EXPECT_TRUE(Validate(config).ok());
}

TEST(ValidateTest, AConnectionHasAnAgeOfASecondOrMore) {
  ServerConfig config;
  config.max_connection_age = std::chrono::milliseconds(999);
  EXPECT_TRUE(Mentions(Validate(config),
                       "--max-connection-age: 999ms is too short, allowed is 0 (no limit) or 1s"));
  config.max_connection_age = std::chrono::seconds(1);
  EXPECT_TRUE(Validate(config).ok());
}

TEST(ValidateTest, AModelIsIdleForASecondOrMore) {
  ServerConfig config;
  config.unload_idle_after = std::chrono::milliseconds(999);
  EXPECT_TRUE(
      Mentions(Validate(config),
               "--unload-idle-after: 999ms is too short, allowed is 0 (never) or 1s..720h"));
  config.unload_idle_after = std::chrono::seconds(1);
  EXPECT_TRUE(Validate(config).ok());
}

TEST(ValidateTest, TheGraceOfAnAgeNeedsAnAge) {
  ServerConfig config;
  config.max_connection_age_grace = std::chrono::seconds(5);
  EXPECT_TRUE(Mentions(Validate(config), "--max-connection-age-grace: needs --max-connection-age"));
  config.max_connection_age = std::chrono::minutes(1);
  EXPECT_TRUE(Validate(config).ok());
}

TEST(AdminAccessTest, SaysWhoMayUseAdminServiceWithoutAKey) {
  ServerConfig config;
  EXPECT_EQ(AdminAccess(config).who,
            "AdminService is open: every user of this machine who reaches 127.0.0.1:8001 or "
            "127.0.0.1:8000 may load and unload models; if others use this machine, --api-keys "
            "FILE asks for a key");
  EXPECT_FALSE(AdminAccess(config).is_warning);
  config.grpc_address = "0.0.0.0:8001";
  EXPECT_EQ(AdminAccess(config).who,
            "AdminService is open: everyone who reaches 0.0.0.0:8001 or 127.0.0.1:8000 may load "
            "and unload models; --api-keys FILE asks for a key");
  EXPECT_TRUE(AdminAccess(config).is_warning);
  // TLS without certificates of clients hides what is said, and keeps nobody out.
  config.tls_cert = "c.pem";
  EXPECT_TRUE(AdminAccess(config).is_warning);
  config.tls_client_ca = "ca.pem";
  EXPECT_EQ(AdminAccess(config).who, "");
  config.tls_client_ca.clear();
  config.api_keys = "keys";
  EXPECT_EQ(AdminAccess(config).who, "");
}

TEST(ValidateTest, ExposedAddressNeedsTls) {
  ServerConfig config;
  config.grpc_address = "0.0.0.0:8001";
  EXPECT_TRUE(Mentions(Validate(config), "--grpc-address: 0.0.0.0:8001"));
  config.tls_cert = "c.pem";
  config.tls_key = "k.pem";
  EXPECT_TRUE(Validate(config).ok());
}

TEST(ValidateTest, TlsOfGrpcDoesNotCoverTheOtherAddresses) {
  ServerConfig config;
  config.tls_cert = "c.pem";
  config.tls_key = "k.pem";
  config.http_address = "10.0.0.1:8000";
  EXPECT_TRUE(Mentions(Validate(config), "--http-address"));
  config.http_address = "";
  config.metrics_address = "[::]:8002";
  EXPECT_TRUE(Mentions(Validate(config), "--metrics-address"));
}

TEST(ValidateTest, WyomingNeedsAWordForEachThingThatItLacks) {
  ServerConfig config;
  config.api_keys = "keys";
  config.wyoming_address = "127.0.0.1:10200";
  EXPECT_TRUE(Validate(config).ok());
  config.wyoming_address = "0.0.0.0:10200";
  EXPECT_TRUE(Mentions(Validate(config), "--wyoming-anonymous"));
  config.insecure = true;
  EXPECT_TRUE(Mentions(Validate(config), "--wyoming-anonymous"));
  config.wyoming_anonymous = true;
  EXPECT_TRUE(Validate(config).ok());
  config.insecure = false;
  EXPECT_TRUE(Mentions(Validate(config), "--insecure"));
  config.insecure = true;
  config.wyoming_anonymous = false;
  config.api_keys = "";
  EXPECT_TRUE(Validate(config).ok());
}

TEST(ValidateTest, InsecureAcceptsExposure) {
  ServerConfig config;
  config.grpc_address = "0.0.0.0:1";
  config.http_address = "0.0.0.0:2";
  config.metrics_address = "0.0.0.0:3";
  EXPECT_FALSE(Validate(config).ok());
  config.insecure = true;
  EXPECT_TRUE(Validate(config).ok());
}

TEST(ValidateTest, EachServerHasAnAddressOfItsOwn) {
  const auto error = [](const char* grpc, const char* http) {
    ServerConfig config;
    config.grpc_address = grpc;
    config.http_address = http;
    return std::string(Validate(config).message());
  };
  EXPECT_EQ(error("127.0.0.1:1", "127.0.0.1:1"),
            "--http-address: 127.0.0.1:1 is the address of --grpc-address already; each needs its "
            "own");
  EXPECT_TRUE(error("unix:/a", "unix:///a").starts_with("--http-address: unix:///a is the"));
  for (const auto& [grpc, http] : {std::pair("127.0.0.1:0", "127.0.0.1:0"),
                                   std::pair("127.0.0.1:1", "[::1]:1"), std::pair("unix:/a", "")})
    EXPECT_EQ(error(grpc, http), "");
}

TEST(ValidateTest, TlsFilesComeTogether) {
  ServerConfig config;
  config.tls_cert = "c.pem";
  EXPECT_TRUE(Mentions(Validate(config), "--tls-key"));
  config.tls_cert.clear();
  config.tls_key = "k.pem";
  EXPECT_TRUE(Mentions(Validate(config), "--tls-cert"));
  config.tls_key.clear();
  config.tls_client_ca = "ca.pem";
  EXPECT_TRUE(Mentions(Validate(config), "--tls-client-ca"));
}

}  // namespace
}  // namespace millrace
