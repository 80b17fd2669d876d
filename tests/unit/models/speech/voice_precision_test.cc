#include "models/speech/voice_precision.h"

#include <gtest/gtest.h>

#include "models/kernels/narrow_kernels.h"

namespace millrace::speech {
namespace {

using kernels::Precision;

models::LoadContext On(runtime::DeviceType device,
                       models::ShapePolicy shapes = models::ShapePolicy::kExact) {
  models::LoadContext context;
  context.device = device;
  context.shapes = shapes;
  return context;
}

models::LoadContext OnCpu() { return On(runtime::DeviceType::kCpu); }

TEST(VoicePrecisionTest, Float32IsForEveryDevice) {
  EXPECT_EQ(*ChoosePrecision({}, OnCpu(), "m", {}), Precision::kFloat32);
  EXPECT_EQ(*ChoosePrecision({}, On(runtime::DeviceType::kCuda), "m", {}), Precision::kFloat32);
}

TEST(VoicePrecisionTest, AutoIsInt8WhereItPaysAndItsDistanceIsKnownAndSmall) {
  const kernels::Target best = kernels::SupportedInt8Kernels().front()->target;
  const auto chosen = [&](float distance, const models::LoadContext& context) {
    return *ChoosePrecision({.asked = {}, .int8_distance_db = distance}, context, "m",
                            {kernels::Target::kNeonInt8Matrix, best});
  };
  EXPECT_EQ(chosen(0.3F, OnCpu()), Precision::kInt8);
  EXPECT_EQ(chosen(VoicePrecision::kGreatestInt8Distance, OnCpu()), Precision::kInt8);
  EXPECT_EQ(chosen(0, OnCpu()), Precision::kFloat32);
  EXPECT_EQ(chosen(0.51F, OnCpu()), Precision::kFloat32);
  EXPECT_EQ(chosen(0.3F, On(runtime::DeviceType::kCuda)), Precision::kFloat32);
  EXPECT_EQ(chosen(0.3F, On(runtime::DeviceType::kCpu, models::ShapePolicy::kFew)),
            Precision::kFloat32);
  EXPECT_EQ(*ChoosePrecision({.asked = {}, .int8_distance_db = 0.3F}, OnCpu(), "m", {}),
            Precision::kFloat32);
}

TEST(VoicePrecisionTest, Int8IsRefusedWhereItCannotRunOrWouldBeSlower) {
  const VoicePrecision int8 = {.asked = Precision::kInt8};
  const auto on_device = ChoosePrecision(int8, On(runtime::DeviceType::kCuda), "m", {});
  EXPECT_EQ(on_device.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(on_device.status().message().find("PRECISION_INT8 is for the CPU"), std::string::npos)
      << on_device.status();
  const auto on_cpu = ChoosePrecision(int8, OnCpu(), "m", {});
  EXPECT_EQ(on_cpu.ok(), kernels::HasInt8DotProducts());
  if (on_cpu.ok()) {
    EXPECT_EQ(*on_cpu, Precision::kInt8);
  }
}

}  // namespace
}  // namespace millrace::speech
