// The commands and options that install packages of models.

#include <gtest/gtest.h>

#include <vector>

#include "server/config/command_line.h"
#include "tests/unit/server/config/command_line_fixture.h"

namespace millrace {
namespace {

using Words = std::vector<std::string>;

TEST(PackageTest, PullGivesTheProgramItsWordsAndKeepsTheConnection) {
  const PackageCommand pull = Parse<PackageCommand>(
      {"pull", "firefox/en-de", "piper/x", "--models", "/srv/models", "--as", "mine",
       "--license-ok", "--precision", "int8", "--json", "--address", "host:1", "--force"});
  EXPECT_EQ(pull.kind, PackageCommand::Kind::kPull);
  EXPECT_EQ(pull.arguments,
            (Words{"pull", "--models=/srv/models", "--as=mine", "--precision=int8", "--license-ok",
                   "--force", "--json", "--", "firefox/en-de", "piper/x"}));
  EXPECT_EQ(pull.client.address, "host:1");
  EXPECT_TRUE(pull.names_server);
  EXPECT_TRUE(pull.json);
  EXPECT_EQ(pull.client.timeout, std::nullopt);
  // A value that is empty is refused there.
  EXPECT_EQ(Parse<PackageCommand>({"add", "x", "--as", "", "--license", ""}).arguments,
            (Words{"add", "--models=var/models", "--as=", "--license=", "--", "x"}));
}

TEST(PackageTest, TheRepositoryIsThatOfServe) {
  EXPECT_EQ(Parse<PackageCommand>({"remove", "x"}).models, "var/models");
  const Environment environment = {{"MILLRACE_MODELS", "voice=/mnt/voice,/srv/models,/other"},
                                   {"MILLRACE_ADDRESS", ""}};
  const PackageCommand add = Parse<PackageCommand>({"add", "x.onnx"}, environment);
  EXPECT_EQ(add.models, "/srv/models");
  EXPECT_EQ(add.arguments, (Words{"add", "--models=/srv/models", "--", "x.onnx"}));
  EXPECT_FALSE(add.names_server);
  EXPECT_EQ(Parse<PackageCommand>({"add", "x.onnx", "--models", "/a"}, environment).models, "/a");
}

TEST(PackageTest, WhatIsAvailableIsListedWithAFilterOrWithout) {
  EXPECT_EQ(Parse<PackageCommand>({"models", "--available"}).arguments,
            (Words{"available", "--models=var/models", "--"}));
  EXPECT_EQ(Parse<PackageCommand>({"models", "--available", "de", "--json"}).arguments,
            (Words{"available", "--models=var/models", "--json", "--", "de"}));
  EXPECT_EQ(Parse<ModelsCommand>({"models", "--models", "/a"}).models, "/a");
}

TEST(PackageTest, ServePullsNamesFromEverySource) {
  const ConfigFile file("pull = [\"firefox/de\", \"kokoro-82m\"]\n");
  EXPECT_EQ(Parse<ServeCommand>({"serve", "--config", file.path()}).config.pull,
            (Words{"firefox/de", "kokoro-82m"}));
  EXPECT_EQ(Parse<ServeCommand>({"serve", "--pull", "a, b,"}).config.pull, (Words{"a", "b"}));
  EXPECT_EQ(Parse<ServeCommand>({"serve"},
                                {{"MILLRACE_PULL", "a"}, {"MILLRACE_FIREFOX_REGISTRY", "http://x"}})
                .config.pull,
            Words{"a"});
  EXPECT_EQ(Parse<ServeCommand>({"serve"}).config.pull, Words{});
  for (const char* bad : {"--force", "a b", "a,-x"}) {
    const EarlyExit exit = Refused({"serve", std::string("--pull=") + bad});
    EXPECT_EQ(exit.status, kExitUsage) << bad;
    EXPECT_TRUE(Has(exit.err, "is not allowed, allowed: names with commas between them")) << bad;
  }
}

}  // namespace
}  // namespace millrace
