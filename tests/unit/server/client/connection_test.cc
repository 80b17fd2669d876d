#include "server/client/connection.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include "tests/unit/server/client/client_fixture.h"

namespace millrace {
namespace {

using ConnectionTest = ClientTest;

TEST_F(ConnectionTest, KeyGoesAlong) {
  client_.api_key = "secret";
  EXPECT_EQ(Captured([&] { return RunTranslate({client_, "Hello", "m", "", ""}); }), kExitOk);
  EXPECT_EQ(translation_.authorization, "Bearer secret");
}

TEST_F(ConnectionTest, ServersErrorIsOneLine) {
  EXPECT_EQ(Captured([&] {
              return RunTranslate({client_, "Hello", "unknown", "", ""});
            }),
            kExitFailed);
  EXPECT_EQ(err_, "millrace: --model: 'unknown' is not loaded\n");
  EXPECT_EQ(out_, "");
}

TEST_F(ConnectionTest, UnreachableServerNamesTheAddressAndTheRemedy) {
  server_->Shutdown();
  EXPECT_EQ(Captured([&] { return RunModels({client_, ""}); }), kExitFailed);
  EXPECT_NE(err_.find("no answer from " + client_.address), std::string::npos) << err_;
  EXPECT_NE(err_.find("millrace serve"), std::string::npos) << err_;
  EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1) << err_;
}

TEST_F(ConnectionTest, StandardInputThatCannotBeReadIsNoEmptyText) {
  ASSERT_NE(std::freopen(folder_.c_str(), "r", stdin), nullptr);
  EXPECT_EQ(ReadInput().status().message(), "standard input cannot be read: Is a directory");
  ASSERT_NE(std::freopen("/dev/null", "r", stdin), nullptr);
  EXPECT_EQ(*ReadInput(), "");
}

TEST_F(ConnectionTest, UnreadableTlsFileIsNamed) {
  client_.tls_ca = folder_ / "none.pem";
  EXPECT_EQ(Captured([&] { return RunModels({client_, ""}); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: " + (folder_ / "none.pem").string() +
                      ": cannot be read: No such file or directory\n");
}

TEST_F(ConnectionTest, AFileWithoutACertificateIsNamed) {
  client_.tls_ca = folder_ / "ca.pem";
  std::ofstream(client_.tls_ca) << "no certificate\n";
  EXPECT_EQ(Captured([&] { return RunModels({client_, ""}); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: " + client_.tls_ca.string() + ": holds no PEM certificate\n");
}

TEST_F(ConnectionTest, WhatIsNoServerOfGrpcIsToldInOneLine) {
  for (const auto& [words, said] :
       {std::pair("Failed parsing HTTP/2",
                  "does not speak gRPC: give the address of --grpc-address"),
        std::pair("timed out before receiving SETTINGS frame", "does not speak gRPC"),
        std::pair("SSL routines::wrong version number", "does not speak TLS, which --tls-ca asks"),
        std::pair("SSL routines::certificate verify failed", "none of the authorities in --tls-ca"),
        std::pair("recvmsg: Socket closed", "it wants TLS, which --tls-ca turns on")}) {
    const grpc::Status status(grpc::StatusCode::UNAVAILABLE, words);
    EXPECT_NE(Explain(status, client_).find(client_.address + " "), std::string::npos);
    EXPECT_NE(Explain(status, client_).find(said), std::string::npos) << Explain(status, client_);
  }
}

TEST_F(ConnectionTest, AProxyOfTheEnvironmentIsNotAskedForThisMachine) {
  for (const char* name : {"http_proxy", "https_proxy", "grpc_proxy"})
    setenv(name, "http://127.0.0.1:9", /*overwrite=*/1);
  const int status = Captured([&] { return RunModels({client_, ""}); });
  for (const char* name : {"http_proxy", "https_proxy", "grpc_proxy"}) unsetenv(name);
  EXPECT_EQ(status, kExitOk) << err_;
}

TEST_F(ConnectionTest, ErrorsNameFlags) {
  TranslateCommand command{client_, "Hello", "m", "en", "pt"};
  command.alternatives = 3;
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: --alternatives: this model has no others\n");
  command = {client_, "Hello", "m", "en", "xx"};
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: --source, --target: there is none\n");
  // A message with a field that has no flag stays as it is.
  command.target_language = "yy";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: source_language, weather: there is none\n");
  command = {client_, "Hello", "guarded", "en", "pt"};
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: an API key is needed: --api-key KEY, or MILLRACE_API_KEY\n");
}

}  // namespace
}  // namespace millrace
