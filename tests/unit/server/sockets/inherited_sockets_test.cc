#include "server/sockets/inherited_sockets.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "models/core/strings.h"
#include "server/sockets/listening_socket.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;

constexpr pid_t kSelf = 4711;
constexpr int kFirst = 200;  // where no other descriptor of the test is

class InheritedSocketsTest : public ::testing::Test {
 protected:
  InheritedSocketsTest() { EXPECT_TRUE(listening_.Listen().ok()); }
  ~InheritedSocketsTest() override {
    for (int i = 0; i < passed_; ++i) close(kFirst + i);
  }

  // Passes the next descriptor, a duplicate of this one.
  void Pass(int descriptor) {
    EXPECT_GE(dup2(descriptor, kFirst + passed_), 0);
    ++passed_;
  }
  void PassListening() { Pass(listening_.descriptor()); }

  static absl::StatusOr<InheritedSockets> Take(const char* fds, const char* names,
                                               const char* pid = "4711") {
    return InheritedSockets::TakeFrom({.pid = pid, .fds = fds, .names = names, .first = kFirst},
                                      kSelf, {"grpc", "http"});
  }
  static std::string Error(const char* fds, const char* names) {
    const auto sockets = Take(fds, names);
    EXPECT_EQ(sockets.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(Message(sockets.status()));
  }

  ListeningSocket listening_ = std::move(ListeningSocket::BindAll({{"127.0.0.1", 0}, ""})->front());

 private:
  int passed_ = 0;
};

TEST_F(InheritedSocketsTest, AreFoundByTheirNames) {
  PassListening();
  PassListening();
  fcntl(kFirst, F_SETFL, 0);
  const auto sockets = Take("2", "http:grpc");
  ASSERT_TRUE(sockets.ok()) << sockets.status();
  EXPECT_FALSE(sockets->empty());
  EXPECT_EQ(sockets->Find("http"), kFirst);
  EXPECT_EQ(sockets->Find("grpc"), kFirst + 1);
  EXPECT_EQ(sockets->Find("metrics"), -1);
  EXPECT_NE(fcntl(kFirst, F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(fcntl(kFirst, F_GETFD) & FD_CLOEXEC, 0) << "a child would keep the port";
}

TEST_F(InheritedSocketsTest, ThoseOfAnotherProcessAreLeftAlone) {
  for (const char* pid : {"4712", "", "x", "4711 "}) {
    const auto sockets = Take("1", "grpc", pid);
    ASSERT_TRUE(sockets.ok()) << sockets.status();
    EXPECT_TRUE(sockets->empty()) << pid;
  }
  EXPECT_TRUE(Take("1", "grpc", nullptr)->empty());
  EXPECT_TRUE(Take(nullptr, "grpc")->empty());
  EXPECT_TRUE(Take("0", "")->empty());
}

TEST_F(InheritedSocketsTest, WhatIsNoNumberOfThemIsRefused) {
  for (const char* fds : {"", "x", "-1", "65", "1000000000000000000"})
    EXPECT_THAT(Error(fds, "grpc"), HasSubstr(StrCat("LISTEN_FDS: '", fds, "'")));
}

TEST_F(InheritedSocketsTest, EachNeedsANameOfAPort) {
  PassListening();
  PassListening();
  EXPECT_THAT(Error("2", nullptr), HasSubstr("has 0 names for 2 sockets"));
  EXPECT_THAT(Error("2", "grpc"), HasSubstr("has 1 names for 2 sockets"));
  EXPECT_THAT(Error("2", "grpc:millrace.socket"),
              HasSubstr("'millrace.socket' is no port of this server, allowed are: grpc, http"));
  EXPECT_THAT(Error("2", "grpc:grpc"), HasSubstr("'grpc' occurs twice"));
}

TEST_F(InheritedSocketsTest, EachListensForStreams) {
  const int unbound = socket(AF_INET, SOCK_STREAM, 0);
  const int datagrams = socket(AF_INET, SOCK_DGRAM, 0);
  const int file = open("/dev/null", O_RDONLY);
  for (const int descriptor : {unbound, datagrams, file}) {
    EXPECT_EQ(dup2(descriptor, kFirst), kFirst);
    EXPECT_THAT(Error("1", "grpc"), HasSubstr("descriptor 200 (grpc) is no stream socket"));
    close(descriptor);
  }
  close(kFirst);
  EXPECT_THAT(Error("1", "grpc"), HasSubstr("descriptor 200 (grpc) is no stream socket"));
}

TEST_F(InheritedSocketsTest, ChildrenDoNotTakeThemForTheirs) {
  setenv("LISTEN_PID", "1", 1);
  setenv("LISTEN_FDS", "1", 1);
  setenv("LISTEN_FDNAMES", "grpc", 1);
  EXPECT_TRUE(InheritedSockets::Take({"grpc"})->empty());
  for (const char* variable : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"})
    EXPECT_EQ(std::getenv(variable), nullptr);
}

}  // namespace
}  // namespace millrace
