#include <gtest/gtest.h>

#include "mps_runtime/device_traits.h"
#include "mps_runtime/forward_mode.h"
#include "mps_runtime/stream.h"

namespace millrace::runtime {
namespace {

TEST(DeviceTypeNamesTest, EveryDeviceReadsBackItsOwnName) {
  for (const DeviceType device : {DeviceType::kCpu, DeviceType::kCuda, DeviceType::kMps}) {
    EXPECT_EQ(ParseDeviceType(ToString(device)), device);
  }
  EXPECT_EQ(ToString(DeviceType::kMps), "mps");
}

TEST(DeviceTypeNamesTest, MessagesListEveryDevice) {
  EXPECT_EQ(DeviceNames(" or "), "cpu, cuda or mps");
  EXPECT_EQ(DeviceNames(", "), "cpu, cuda, mps");
}

TEST(DeviceTypeNamesTest, RefusesOtherNames) {
  for (const char* name : {"", "auto", "CPU", "cpu ", "cuda:0"}) {
    EXPECT_EQ(ParseDeviceType(name), std::nullopt) << name;
  }
}

TEST(ForwardModeNamesTest, EachModeHasItsName) {
  EXPECT_EQ(ToString(ForwardMode::kParallel), "parallel");
  EXPECT_EQ(ToString(ForwardMode::kEncodeLock), "encode-lock");
  EXPECT_EQ(ToString(ForwardMode::kSerial), "serial");
}

}  // namespace
}  // namespace millrace::runtime
