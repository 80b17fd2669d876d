#include "server/metrics/model_metrics.h"

#include <gtest/gtest.h>

#include <chrono>

#include "server/metrics/metrics.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;

TEST(ModelMetricsTest, CountsARequestByMethodAndCodeWithItsTime) {
  Metrics metrics{BuildInfo{}};
  const auto model = metrics.ForModel("m");
  model->CountRequest(Method::kTranslate, absl::StatusCode::kNotFound, milliseconds(250));
  const auto count = [&](Method method, absl::StatusCode code) {
    return model->requests[static_cast<size_t>(method)][static_cast<size_t>(code)]->Value();
  };
  EXPECT_EQ(count(Method::kTranslate, absl::StatusCode::kNotFound), 1);
  EXPECT_EQ(count(Method::kTranslate, absl::StatusCode::kOk), 0);
  EXPECT_EQ(count(Method::kModelInfer, absl::StatusCode::kNotFound), 0);
  const auto times =
      model->request_seconds[static_cast<size_t>(Method::kTranslate)]->Collect().histogram;
  EXPECT_EQ(times.sample_count, 1U);
  EXPECT_DOUBLE_EQ(times.sample_sum, 0.25);
}

TEST(ModelMetricsTest, UnknownCodeCountsAsUnknown) {
  Metrics metrics{BuildInfo{}};
  const auto model = metrics.ForModel("m");
  model->CountRequest(Method::kModelInfer, static_cast<absl::StatusCode>(77), milliseconds(1));
  model->CountRequest(Method::kModelInfer, static_cast<absl::StatusCode>(-3), milliseconds(1));
  const auto& codes = model->requests[static_cast<size_t>(Method::kModelInfer)];
  EXPECT_EQ(codes[static_cast<size_t>(absl::StatusCode::kUnknown)]->Value(), 2);
}

TEST(ModelMetricsTest, CountsRefusalsByReason) {
  Metrics metrics{BuildInfo{}};
  const auto model = metrics.ForModel("m");
  model->CountRefusal(Refusal::kDraining);
  EXPECT_EQ(model->refused[static_cast<size_t>(Refusal::kDraining)]->Value(), 1);
  EXPECT_EQ(model->refused[static_cast<size_t>(Refusal::kQueueFull)]->Value(), 0);
}

TEST(ModelMetricsTest, LabelsAreTheNamesThatTheProtocolUses) {
  EXPECT_EQ(ToString(Method::kModelInfer), "ModelInfer");
  EXPECT_EQ(ToString(Method::kTranslate), "Translate");
  EXPECT_EQ(ToString(Method::kStreamTranslate), "StreamTranslate");
  EXPECT_EQ(ToString(Method::kSynthesize), "Synthesize");
  EXPECT_EQ(ToString(Method::kStreamSynthesize), "StreamSynthesize");
  EXPECT_EQ(ToString(Method::kSynthesizeTextStream), "SynthesizeTextStream");
  EXPECT_EQ(ToString(Method::kRivaSynthesize), "RivaSynthesize");
  EXPECT_EQ(ToString(Method::kRivaSynthesizeOnline), "RivaSynthesizeOnline");
  EXPECT_EQ(ToString(Method::kRivaTranslateText), "RivaTranslateText");
  EXPECT_EQ(TaskOf(Method::kRivaSynthesizeOnline), models::Task::kSynthesis);
  EXPECT_EQ(TaskOf(Method::kRivaTranslateText), models::Task::kTranslation);
  EXPECT_EQ(ToString(Method::kHttpInfer), "HttpInfer");
  EXPECT_EQ(ToString(Method::kVllmOmniTextStream), "VllmOmniTextStream");
  EXPECT_EQ(TaskOf(Method::kElevenLabsTextStream), models::Task::kSynthesis);
  EXPECT_EQ(TaskOf(Method::kHttpInfer), models::Task::kInfer);
  EXPECT_EQ(ToString(Refusal::kQueueFull), "queue_full");
  EXPECT_EQ(ToString(Refusal::kTooMany), "too_many");
  EXPECT_EQ(ToString(Refusal::kDraining), "draining");
}

}  // namespace
}  // namespace millrace::server
