#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/config/front_ends.h"
#include "server/config/options.h"
#include "server/config/sources.h"
#include "server/frontends/openapi/route_table.h"
#include "server/metrics/method.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// The layers below the front ends, which are compiled here with the lists of the toy protocols: one
// that is built, and one that is left out.
TEST(ToyListsTest, MethodsAreNumberedAndNamed) {
  EXPECT_EQ(server::kMethods, 3U);
  EXPECT_EQ(ToString(server::Method::kShoutTranslate), "ShoutTranslate");
  EXPECT_EQ(TaskOf(server::Method::kShoutText), models::Task::kTranslation);
  EXPECT_EQ(RpcMethod(server::Method::kShoutText), "millrace.toy.v1.Shout/Say");
  EXPECT_TRUE(IsServed(server::Method::kShoutText));
  EXPECT_FALSE(IsServed(server::Method::kWhisperTranslate));
}

TEST(ToyListsTest, RoutesAreDescribed) {
  ASSERT_THAT(server::RouteTable(), SizeIs(1));
  EXPECT_EQ(server::RouteTable().front().path, "/shout");
  EXPECT_EQ(server::RouteTable().front().answer, "application/json");
}

TEST(ToyListsTest, TheBuildKnowsWhatItHas) {
  EXPECT_EQ(BuiltFrontEnds(), "shout");
  EXPECT_TRUE(HasFrontEnd("shout"));
  EXPECT_FALSE(HasFrontEnd("whisper"));
}

TEST(ToyListsTest, SettingsAreOptions) {
  ServerConfig config;
  EXPECT_EQ(config.loudness, Loudness::kHigh);
  Origins origins;
  ASSERT_TRUE(Apply({{"loudness", {"low", "--loudness", "flag"}}}, config, origins).ok());
  EXPECT_EQ(config.loudness, Loudness::kLow);
  std::vector<std::string> groups;
  for (const Option& option : ServeOptions()) {
    if (groups.empty() || groups.back() != option.group) groups.push_back(option.group);
  }
  // Each group is there once.
  EXPECT_THAT(groups, ElementsAre("Models and device", "Addresses", "Security", "Limits", "Traces",
                                  "Shouting", "Stopping", "Logging"));
}

TEST(ToyListsTest, ItsAddressIsCheckedWithTheOthers) {
  ServerConfig config;
  config.shout_address = "0.0.0.0:1";
  EXPECT_THAT(std::string(Validate(config).message()),
              HasSubstr("--shout-address: 0.0.0.0:1 can be reached from other machines without "
                        "TLS; use 127.0.0.1, or accept it with --insecure: Shout has no TLS"));
  config.insecure = true;
  EXPECT_TRUE(Validate(config).ok());
  config.api_keys = "keys";
  EXPECT_THAT(std::string(Validate(config).message()), HasSubstr("--shout-anonymous"));
  config.shout_anonymous = true;
  EXPECT_TRUE(Validate(config).ok());
}

TEST(ToyListsTest, AnOptionOfAFrontEndThatIsLeftOutIsRefusedByName) {
  ServerConfig config;
  Origins origins;
  EXPECT_EQ(Apply({{"whisper", {"on", "--whisper", "flag"}}}, config, origins).message(),
            "--whisper: this build has no front end 'whisper', whose option it is; it has: shout");
  const auto variables = ReadEnvironment({{"MILLRACE_WHISPER", "on"}});
  ASSERT_TRUE(variables.ok());
  EXPECT_THAT(std::string(Apply(*variables, config, origins).message()),
              HasSubstr("MILLRACE_WHISPER: this build has no front end 'whisper'"));
}

}  // namespace
}  // namespace millrace
