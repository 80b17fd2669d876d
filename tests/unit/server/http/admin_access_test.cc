#include "server/http/admin_access.h"

#include <gtest/gtest.h>

#include <string>

#include "httplib.h"
#include "server/security/api_key_store.h"
#include "tests/fakes/open_keys.h"

namespace millrace {
namespace {

absl::StatusCode Access(const httplib::Headers& headers, const ApiKeyStore* keys = nullptr) {
  httplib::Request request;
  request.headers = headers;
  return AuthorizeHttpAdmin(request, keys).code();
}

TEST(AdminAccessTest, WithKeysItNeedsOneOfAnAdmin) {
  const auto keys =
      testing::OpenKeys({{"ann", Role::kUser, "user"}, {"root", Role::kAdmin, "admin"}});
  using enum absl::StatusCode;
  EXPECT_EQ(Access({}, keys.get()), kUnauthenticated);
  EXPECT_EQ(Access({{"Authorization", "Bearer other"}}, keys.get()), kUnauthenticated);
  EXPECT_EQ(Access({{"Authorization", "Bearer user"}}, keys.get()), kPermissionDenied);
  EXPECT_EQ(Access({{"X-Api-Key", "user"}}, keys.get()), kPermissionDenied);
  EXPECT_EQ(Access({{"Authorization", "Bearer admin"}}, keys.get()), kOk);
  EXPECT_EQ(Access({{"X-Api-Key", "admin"}}, keys.get()), kOk);
  // A page that knows the key may be of any origin.
  EXPECT_EQ(Access({{"X-Api-Key", "admin"}, {"Origin", "https://other.example"}}, keys.get()), kOk);
}

TEST(AdminAccessTest, WithoutKeysPagesOfOtherOriginsMayNot) {
  using enum absl::StatusCode;
  EXPECT_EQ(Access({{"Host", "millrace.example:8000"}}), kOk);  // not from a page
  for (const char* host : {"127.0.0.1:8000", "localhost:8000", "[::1]:8000", "192.168.1.7"}) {
    const std::string origin = std::string("http://") + host;
    EXPECT_EQ(Access({{"Host", host}, {"Origin", origin}}), kOk) << host;
    EXPECT_EQ(Access({{"Host", host}, {"Origin", "http://other.example"}}), kPermissionDenied);
    EXPECT_EQ(Access({{"Host", host}, {"Origin", "null"}}), kPermissionDenied);
    EXPECT_EQ(Access({{"Host", host}, {"Origin", origin + "0"}}), kPermissionDenied);
  }
  // Its owner may have let the name lead here after the page was loaded.
  EXPECT_EQ(Access({{"Host", "other.example:8000"}, {"Origin", "http://other.example:8000"}}),
            kPermissionDenied);
  EXPECT_EQ(Access({{"Origin", "http://"}}), kPermissionDenied);
}

}  // namespace
}  // namespace millrace
