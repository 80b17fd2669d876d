#include "server/frontends/orca/orca_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "models/core/strings.h"
#include "tests/fakes/fake_call.h"
#include "tests/fakes/fake_clock.h"
#include "xds/service/orca/v3/orca.pb.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using testing::FakeCall;
using ::testing::HasSubstr;
using xds::data::orca::v3::OrcaLoadReport;
using xds::service::orca::v3::OrcaLoadReportRequest;

class OrcaServiceTest : public ::testing::Test {
 protected:
  static std::string Request(int64_t interval_seconds, int32_t nanos = 0) {
    OrcaLoadReportRequest request;
    request.mutable_report_interval()->set_seconds(interval_seconds);
    request.mutable_report_interval()->set_nanos(nanos);
    return request.SerializeAsString();
  }
  void Publish(double rps) {
    OrcaLoadReport report;
    report.set_rps_fractional(rps);
    service_.Publish(report);
  }
  void Begin(FakeCall& call) { call.Begin(service_, "StreamCoreMetrics"); }
  // The client takes what was written.
  static std::vector<double> Taken(FakeCall& call) {
    std::vector<double> rates;
    for (const std::string& message : call.written()) {
      OrcaLoadReport report;
      EXPECT_TRUE(report.ParseFromString(message));
      rates.push_back(report.rps_fractional());
    }
    return rates;
  }
  static void Leave(FakeCall& call) {
    call.Leave();
    EXPECT_EQ(call.RunToEnd().code(), absl::StatusCode::kCancelled);
  }

  testing::FakeClock clock_;
  int too_many_ = 0;
  OrcaService service_{{.max_streams = 2, .on_too_many = [this] { ++too_many_; }}, clock_};
};

TEST_F(OrcaServiceTest, ReportsAtOnceAndThenAtTheInterval) {
  Publish(1);
  FakeCall call(Request(5));
  Begin(call);
  EXPECT_TRUE(call.DeliverOne());
  clock_.Advance(milliseconds(4999));
  Publish(2);
  clock_.Advance(milliseconds(1));
  Publish(3);
  EXPECT_TRUE(call.DeliverOne());
  EXPECT_THAT(Taken(call), ElementsAre(1, 3));
  Leave(call);
}

TEST_F(OrcaServiceTest, AnIntervalIsASecondOrMore) {
  Publish(1);
  for (const std::string& request : {Request(0), Request(0, 1'000'000), std::string()}) {
    FakeCall call(request);
    Begin(call);
    EXPECT_TRUE(call.DeliverOne());
    clock_.Advance(milliseconds(999));
    Publish(2);
    clock_.Advance(milliseconds(1));
    Publish(3);
    EXPECT_TRUE(call.DeliverOne());
    EXPECT_THAT(Taken(call), ElementsAre(1, 3));
    Leave(call);
    Publish(1);
  }
}

TEST_F(OrcaServiceTest, AnEndlessIntervalIsAnHour) {
  FakeCall call(Request(1'000'000'000'000'000'000));
  Begin(call);
  EXPECT_TRUE(call.DeliverOne());
  clock_.Advance(OrcaService::kLongest);
  Publish(2);
  EXPECT_TRUE(call.DeliverOne());
  EXPECT_THAT(Taken(call), ElementsAre(0, 2));
  Leave(call);
}

TEST_F(OrcaServiceTest, WhatIsNoIntervalIsRefused) {
  for (const std::string& request : {Request(-1), Request(0, -1), Request(1, 1'000'000'000)}) {
    FakeCall call(request);
    Begin(call);
    const absl::Status status = call.RunToEnd();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(Message(status)), HasSubstr("report_interval: "));
  }
}

TEST_F(OrcaServiceTest, ASlowReaderMissesReports) {
  Publish(1);
  FakeCall call(Request(1));
  call.StopReading();
  Begin(call);
  for (int i = 2; i < 10; ++i) {
    clock_.Advance(seconds(1));
    Publish(i);
  }
  call.ReadOn();
  EXPECT_TRUE(call.DeliverOne());
  Publish(10);
  EXPECT_TRUE(call.DeliverOne());
  EXPECT_THAT(Taken(call), ElementsAre(1, 10));
  Leave(call);
}

TEST_F(OrcaServiceTest, StreamsAreBounded) {
  FakeCall a(Request(1)), b(Request(1)), c(Request(1));
  Begin(a);
  Begin(b);
  Begin(c);
  const absl::Status status = c.RunToEnd();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(Message(status)), HasSubstr("to 2 clients"));
  EXPECT_EQ(too_many_, 1);
  Leave(a);
  FakeCall d(Request(1));
  Begin(d);
  EXPECT_TRUE(d.DeliverOne());
  Leave(b);
  Leave(d);
}

TEST_F(OrcaServiceTest, StreamsEndWithTheServer) {
  FakeCall before(Request(1)), after(Request(1));
  Begin(before);
  service_.EndStreams();
  EXPECT_EQ(before.RunToEnd().code(), absl::StatusCode::kUnavailable);
  Begin(after);
  EXPECT_EQ(after.RunToEnd().code(), absl::StatusCode::kUnavailable);
  Publish(1);
}

}  // namespace
}  // namespace millrace::server
