#include "models/core/request.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "models/core/strings.h"
#include "tests/fakes/fake_clock.h"

namespace millrace::models {
namespace {

using std::chrono::seconds;
using testing::FakeClock;

class Sink final : public OutputSink {
 public:
  void Emit(Output output) override {
    text_indices.push_back(std::get<TranslateOutput>(output).text_index);
  }
  std::vector<size_t> text_indices;
};

TEST(RequestTest, ExpiresAtItsDeadline) {
  FakeClock clock;
  Sink sink;
  const Request request(Input(), clock.Now() + seconds(2), sink, clock);
  clock.Advance(seconds(1));
  EXPECT_FALSE(request.expired());
  EXPECT_FALSE(request.ShouldStop());
  clock.Advance(seconds(1));
  EXPECT_TRUE(request.expired());
  EXPECT_TRUE(request.ShouldStop());
}

TEST(RequestTest, WithoutADeadlineNeverExpires) {
  FakeClock clock;
  Sink sink;
  const Request request(Input(), TimePoint::max(), sink, clock);
  clock.Advance(std::chrono::hours(1'000'000));
  EXPECT_FALSE(request.expired());
}

TEST(RequestTest, StopsWhenItsSinkIsCancelled) {
  Sink sink;
  const Request request(Input(), TimePoint::max(), sink);
  EXPECT_FALSE(request.ShouldStop());
  sink.Cancel();
  EXPECT_TRUE(request.cancelled());
  EXPECT_TRUE(request.ShouldStop());
}

TEST(RequestTest, FirstOutcomeStays) {
  Sink sink;
  Request request(Input(), TimePoint::max(), sink);
  EXPECT_FALSE(request.outcome());
  request.Finish(absl::InvalidArgumentError("first"));
  request.Finish(absl::OkStatus());
  ASSERT_TRUE(request.outcome());
  EXPECT_EQ(request.outcome()->code(), absl::StatusCode::kInvalidArgument);
}

TEST(RequestTest, OutputsReachTheSinkInOrder) {
  Sink sink;
  Request request(Input(), TimePoint::max(), sink);
  for (const size_t i : {0, 1, 2}) {
    TranslateOutput part;
    part.text_index = i;
    request.Emit(part);
  }
  EXPECT_EQ(sink.text_indices, (std::vector<size_t>{0, 1, 2}));
}

TEST(RequestTest, KeepsTheStateOfItsModel) {
  struct State final : RequestState {
    int sentences = 7;
  };
  Sink sink;
  Request request(Input(), TimePoint::max(), sink);
  EXPECT_EQ(request.state(), nullptr);
  request.set_state(std::make_unique<State>());
  EXPECT_EQ(static_cast<State*>(request.state())->sentences, 7);
}

TEST(StrCatTest, TakesEitherStringView) {
  const std::string_view own = "a";
  EXPECT_EQ(StrCat(own, View(own), std::string("b"), "c", 1), "aabc1");
}

}  // namespace
}  // namespace millrace::models
