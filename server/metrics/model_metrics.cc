#include "server/metrics/model_metrics.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace millrace::server {
namespace {

using models::Task;

// The buckets begin at a null model's tens of microseconds, with about three a decade, and end at
// the longest request: anything longer was ended at its deadline.
std::vector<double> LatencyBuckets(Duration longest_request) {
  constexpr double kBounds[] = {0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                0.025,   0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,
                                10,      25,     60,      120,    300,   900,    3600,  14400};
  const double longest = Seconds(longest_request);
  std::vector<double> bounds;
  for (const double bound : kBounds) {
    if (bound < longest) bounds.push_back(bound);
  }
  bounds.push_back(longest);
  return bounds;
}

const std::vector<double> kBatchBuckets = {1, 2, 4, 8, 16, 32, 64, 128, 256};

constexpr unsigned BitOf(Task task) { return 1U << static_cast<unsigned>(task); }

// The models for which a metric is shown before it counts anything.
constexpr unsigned kNone = 0;
constexpr unsigned kVoices = BitOf(Task::kSynthesis);
constexpr unsigned kTranslators = BitOf(Task::kTranslation);
constexpr unsigned kAll = BitOf(Task::kInfer) | kVoices | kTranslators;

}  // namespace

std::string_view ToString(Refusal refusal) {
  static constexpr std::array<std::string_view, kRefusals> kNames = {
      "queue_full", "too_many", "draining", "deadline", "never_fits", "key_limit", "loading"};
  return kNames[static_cast<size_t>(refusal)];
}

bool IsWatched(absl::StatusCode code) {
  using Code = absl::StatusCode;
  static constexpr Code kWatched[] = {Code::kOk, Code::kUnknown, Code::kDeadlineExceeded,
                                      Code::kInternal, Code::kDataLoss};
  return std::ranges::find(kWatched, code) != std::end(kWatched);
}

bool IsServersFault(absl::StatusCode code) {
  using Code = absl::StatusCode;
  static constexpr Code kFaults[] = {Code::kUnknown,           Code::kDeadlineExceeded,
                                     Code::kResourceExhausted, Code::kInternal,
                                     Code::kUnavailable,       Code::kDataLoss};
  return std::ranges::find(kFaults, code) != std::end(kFaults);
}

ModelMetrics::ModelMetrics(std::string name, Duration longest_request)
    : name_(std::move(name)),
      queue_seconds(LatencyBuckets(longest_request)),
      compute_seconds(LatencyBuckets(longest_request)),
      permit_wait_seconds(LatencyBuckets(longest_request)),
      first_audio_seconds(LatencyBuckets(longest_request)),
      batch_size(kBatchBuckets) {
  for (ShardedCounter*& counter : refused) counter = &counters_.Add();
  for (auto& histogram : request_seconds) histogram.emplace(LatencyBuckets(longest_request));
  for (auto& codes : requests) {
    for (ShardedCounter*& counter : codes) counter = &counters_.Add();
  }
}

void ModelMetrics::AddTask(Task task) { tasks_.fetch_or(BitOf(task), std::memory_order_relaxed); }

void ModelMetrics::Collect(MetricWriter& writer) const {
  using Labels = MetricWriter::Labels;
  const unsigned tasks = tasks_.load(std::memory_order_relaxed);
  const Labels model = {{"model", name_}};
  const auto with = [this](const char* key, std::string_view value) {
    return Labels{{key, std::string(value)}, {"model", name_}};
  };
  const auto counter = [&](const char* name, const char* help, const ShardedCounter& counted,
                           unsigned shown_for, const Labels& labels) {
    MetricWriter::Family family = writer.Counters(name, help);
    const double value = counted.Value();
    if (value != 0 || (tasks & shown_for) != 0) family.Add(value, labels);
  };
  const auto histogram = [&](const char* name, const char* help, const ShardedHistogram& observed,
                             unsigned shown_for, const Labels& labels) {
    MetricWriter::Family family = writer.Histograms(name, help);
    if ((tasks & shown_for) != 0 || observed.has_values()) family.Add(observed, labels);
  };

  MetricWriter::Family ends =
      writer.Counters("millrace_requests_total", "Finished requests by gRPC status code.");
  for (size_t m = 0; m < kMethods; ++m) {
    const auto method = static_cast<Method>(m);
    for (size_t i = 0; i < kStatusCodes; ++i) {
      const auto code = static_cast<absl::StatusCode>(i);
      const double count = requests[m][i]->Value();
      if (count == 0 &&
          !(IsWatched(code) && IsServed(method) && (tasks & BitOf(TaskOf(method))) != 0))
        continue;
      ends.Add(count, {{"code", absl::StatusCodeToString(code)},
                       {"method", std::string(ToString(method))},
                       {"model", name_}});
    }
  }
  MetricWriter::Family refusals = writer.Counters("millrace_requests_refused_total",
                                                  "Requests that the server refused, by reason.");
  for (size_t i = 0; i < kRefusals; ++i) {
    refusals.Add(refused[i]->Value(),
                 {{"model", name_}, {"reason", std::string(ToString(static_cast<Refusal>(i)))}});
  }
  counter("millrace_helped_seconds_total",
          "Time that idle workers spent on parts of other workers' forwards.", helped_seconds, kAll,
          model);
  counter("millrace_audio_seconds_total", "Seconds of speech produced.", audio_seconds, kVoices,
          model);
  counter("millrace_characters_total", "Characters of text processed.", characters,
          kTranslators | kVoices, model);
  for (const auto& [direction, tokens] :
       {std::pair("source", &source_tokens), std::pair("target", &target_tokens)}) {
    counter("millrace_tokens_total", "Tokens read and produced.", *tokens, kTranslators,
            with("direction", direction));
  }
  for (size_t m = 0; m < kMethods; ++m) {
    histogram("millrace_request_duration_seconds", "From arrival to the last reply.",
              *request_seconds[m], kNone, with("method", ToString(static_cast<Method>(m))));
  }
  histogram("millrace_queue_duration_seconds",
            "Waiting in the queue, before all of a request's steps together.", queue_seconds, kAll,
            model);
  histogram("millrace_compute_duration_seconds", "The forward of one batch.", compute_seconds, kAll,
            model);
  histogram("millrace_permit_wait_seconds", "Waiting for a permit before a forward.",
            permit_wait_seconds, kAll, model);
  histogram("millrace_time_to_first_audio_seconds", "From arrival to the first audio.",
            first_audio_seconds, kVoices, model);
  histogram("millrace_batch_size", "Requests in one step.", batch_size, kAll, model);
}

void ModelMetrics::CountRequest(Method method, absl::StatusCode code, Duration took) {
  const auto row = static_cast<size_t>(method);
  const auto column = static_cast<size_t>(code);
  requests[row][column < kStatusCodes ? column : static_cast<size_t>(absl::StatusCode::kUnknown)]
      ->Increment();
  request_seconds[row]->Observe(Seconds(took));
}

}  // namespace millrace::server
