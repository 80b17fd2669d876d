#include "server/scheduling/step_trace.h"

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "server/tracing/tracer.h"
#include "tests/unit/server/scheduling/step_fixture.h"

namespace millrace::server {
namespace {

using models::Request;
using std::chrono::seconds;
using ::testing::ElementsAre;
using testing::FakeReply;
using testing::ModelHooks;
using tracing::Span;

class StepTraceTest : public StepTest {
 protected:
  // Requests take one second a phase.
  ModelHooks Slow() {
    return {.prepare = [this](Request&) { clock_.Advance(seconds(1)); },
            .forward = [this](Request&) { clock_.Advance(seconds(1)); },
            .complete =
                [this](Request& request) {
                  clock_.Advance(seconds(1));
                  request.Finish(absl::OkStatus());
                }};
  }

  // The spans of a reply besides the server's.
  std::vector<Span> SpansOf(FakeReply& reply) {
    auto& trace = traces_.at(&reply);
    trace->Finish({.name = "m", .time = clock_.Now()});
    auto batch = queue_.Take(TimePoint());
    EXPECT_EQ(batch.size(), 1U);
    std::vector<Span> spans = std::move(batch.at(0).spans);
    spans.erase(spans.begin());
    return spans;
  }
  static std::vector<std::string> Names(const std::vector<Span>& spans) {
    std::vector<std::string> names;
    for (const Span& span : spans) names.push_back(span.name);
    return names;
  }
  static const Span& Find(const std::vector<Span>& spans, const std::string& name) {
    for (const Span& span : spans) {
      if (span.name == name) return span;
    }
    ADD_FAILURE() << "no span " << name;
    return spans.at(0);
  }
  static int64_t Number(const Span& span, std::string_view key) {
    for (const tracing::Attribute& attribute : span.attributes) {
      if (attribute.key == key) return std::get<int64_t>(attribute.value);
    }
    return -1;
  }
  void Sample(FakeReply& reply) {
    traces_[&reply] = tracer_.Begin({}, clock_.Now());
    reply.set_trace(traces_[&reply].get());
  }

  tracing::SpanCounts counts_;
  tracing::TraceQueue queue_{{}, counts_};
  const tracing::Tracer tracer_{tracing::Sampler(1, true), queue_, counts_};
  std::map<const FakeReply*, std::unique_ptr<tracing::RequestTrace>> traces_;
  FakeReply first_;
  FakeReply second_;
  FakeReply third_;
  const Request* poison_ = nullptr;
};

TEST_F(StepTraceTest, AStepHasItsWaitsAndItsPhases) {
  Sample(first_);
  const auto model = MakeModel("m", {}, Slow());
  device_.permit_wait = std::chrono::milliseconds(250);
  auto batch = MakeBatch(model, {&first_});
  const TimePoint start = clock_.Now();
  clock_.Advance(seconds(5));
  Run(std::move(batch));
  const std::vector<Span> spans = SpansOf(first_);
  EXPECT_THAT(Names(spans), ElementsAre("queue", "prepare", "permit", "forward", "complete"));
  TimePoint end = start;
  for (const Span& span : spans) {  // each begins where the one before ended
    EXPECT_EQ(span.begin, end) << span.name;
    end = span.end;
  }
  EXPECT_EQ(end, clock_.Now());
  EXPECT_EQ(spans[0].end - spans[0].begin, seconds(5));
  EXPECT_EQ(spans[2].end - spans[2].begin, std::chrono::milliseconds(250));
  EXPECT_EQ(Number(spans[3], "millrace.batch_size"), 1);
  EXPECT_EQ(Number(spans[3], "millrace.stream"), 1);
  EXPECT_TRUE(spans[3].links.empty());
}

TEST_F(StepTraceTest, TheForwardsOfABatchPointToEachOther) {
  Sample(first_);
  Sample(third_);
  const auto model = MakeModel("m", {.max_batch = 3}, Slow());
  Run(model, {&first_, &second_, &third_});
  const auto first = SpansOf(first_);
  const auto third = SpansOf(third_);
  const Span& mine = Find(first, "forward");
  const Span& other = Find(third, "forward");
  EXPECT_EQ(Number(mine, "millrace.batch_size"), 3);
  ASSERT_EQ(mine.links.size(), 1U);  // one of the others is not sampled
  EXPECT_EQ(mine.links[0].trace_id, traces_[&third_]->id());
  EXPECT_EQ(mine.links[0].span_id, other.id);
  ASSERT_EQ(other.links.size(), 1U);
  EXPECT_EQ(other.links[0].span_id, mine.id);
}

TEST_F(StepTraceTest, LinksAreBounded) {
  constexpr size_t kRequests = StepTrace::kMaxLinks + 3;
  std::vector<FakeReply> replies(kRequests);
  std::vector<FakeReply*> all;
  for (FakeReply& reply : replies) {
    Sample(reply);
    all.push_back(&reply);
  }
  Run(MakeModel("m", {.max_batch = kRequests}, Slow()), all);
  const auto spans = SpansOf(replies[0]);
  EXPECT_EQ(Find(spans, "forward").links.size(), StepTrace::kMaxLinks);
  EXPECT_EQ(Find(spans, "forward").dropped_links, 2U);
}

TEST_F(StepTraceTest, AFailureEndsThePhaseThatThrew) {
  Sample(first_);
  ModelHooks hooks = Slow();
  hooks.forward = [](Request&) { throw std::runtime_error("out of memory"); };
  Run(MakeModel("m", {}, hooks), {&first_});
  const auto spans = SpansOf(first_);
  EXPECT_THAT(Names(spans), ElementsAre("queue", "prepare", "forward"));
  EXPECT_TRUE(spans[2].failed);
  EXPECT_THAT(spans[2].error, ::testing::HasSubstr("out of memory"));
  EXPECT_FALSE(spans[1].failed);
}

// The batch runs again, request by request.
TEST_F(StepTraceTest, AFailedBatchShowsBothAttempts) {
  Sample(first_);
  ModelHooks hooks = Slow();
  hooks.forward = [this](Request& request) {
    if (&request == poison_) throw std::runtime_error("bad");
  };
  const auto model = MakeModel("m", {.max_batch = 2}, hooks);
  auto batch = MakeBatch(model, {&first_, &second_});
  poison_ = &batch[1]->request;
  Run(std::move(batch));
  const auto spans = SpansOf(first_);
  EXPECT_THAT(Names(spans), ElementsAre("queue", "prepare", "forward", "prepare", "permit",
                                        "forward", "complete"));
  EXPECT_EQ(Number(spans[2], "millrace.batch_size"), 2);
  EXPECT_EQ(Number(spans[5], "millrace.batch_size"), 1);
}

TEST_F(StepTraceTest, ARequestThatIsFinishedInPrepareHasNoForward) {
  Sample(first_);
  ModelHooks hooks = Slow();
  hooks.prepare = [](Request& request) { request.Finish(absl::InvalidArgumentError("no")); };
  Run(MakeModel("m", {}, hooks), {&first_});
  EXPECT_THAT(Names(SpansOf(first_)), ElementsAre("queue", "prepare"));
}

TEST_F(StepTraceTest, TheWaitForTheClientIsAStall) {
  Sample(first_);
  int steps = 0;
  ModelHooks hooks;
  hooks.complete = [&steps](Request& request) {
    if (++steps == 2) request.Finish(absl::OkStatus());
  };
  const auto model = MakeModel("m", {}, hooks);
  first_.congested = true;
  Run(model, {&first_});
  const TimePoint parked = clock_.Now();
  auto job = first_.WaitParked();
  clock_.Advance(seconds(7));
  const TimePoint back = clock_.Now();
  scheduler_.Requeue(std::move(job));
  clock_.Advance(seconds(2));
  Pop();
  first_.congested = false;
  Run(std::move(popped_.batch));
  const auto spans = SpansOf(first_);
  EXPECT_THAT(Names(spans),
              ElementsAre("queue", "prepare", "permit", "forward", "complete", "client stall",
                          "queue", "prepare", "permit", "forward", "complete"));
  EXPECT_EQ(spans[5].begin, parked);
  EXPECT_EQ(spans[5].end, back);
  EXPECT_EQ(spans[6].begin, back);
  EXPECT_EQ(spans[6].end - spans[6].begin, seconds(2));
}

TEST_F(StepTraceTest, AClientThatLeavesEndsTheStall) {
  Sample(first_);
  ModelHooks hooks;
  hooks.complete = [](Request&) {};
  first_.congested = true;
  Run(MakeModel("m", {}, hooks), {&first_});
  clock_.Advance(seconds(3));
  FinishJob(first_.WaitParked(), absl::CancelledError());
  const auto spans = SpansOf(first_);
  ASSERT_EQ(spans.size(), 6U);
  EXPECT_EQ(spans[5].name, "client stall");
  EXPECT_EQ(spans[5].end - spans[5].begin, seconds(3));
}

TEST_F(StepTraceTest, ARequestThatNeverRanHasItsWait) {
  Sample(first_);
  const auto model = MakeModel("m");
  EXPECT_TRUE(Submit(model, first_).ok());
  clock_.Advance(seconds(4));
  for (auto& job : scheduler_.Close()) FinishJob(std::move(job), absl::UnavailableError("stop"));
  const auto spans = SpansOf(first_);
  EXPECT_THAT(Names(spans), ElementsAre("queue"));
  EXPECT_EQ(spans[0].end - spans[0].begin, seconds(4));
}

TEST_F(StepTraceTest, HistogramsGetTheTraceAsAnExample) {
  Sample(first_);
  const auto model = MakeModel("m", {}, Slow());
  Run(model, {&first_, &second_});
  const std::string id = tracing::ToHex(traces_[&first_]->id());
  for (const ShardedHistogram* histogram :
       {&model->metrics().compute_seconds, &model->metrics().queue_seconds,
        &model->metrics().permit_wait_seconds}) {
    std::set<std::string> ids;
    for (const auto& exemplar : histogram->Exemplars()) {
      if (exemplar) ids.insert(exemplar->trace_id);
    }
    EXPECT_EQ(ids, std::set<std::string>{id});
  }
}

TEST_F(StepTraceTest, WithoutASampleNothingIsKept) {
  const auto model = MakeModel("m", {}, Slow());
  Run(model, {&second_});
  EXPECT_EQ(queue_.spans(), 0U);
  EXPECT_TRUE(model->metrics().compute_seconds.Exemplars().empty());
}

}  // namespace
}  // namespace millrace::server
