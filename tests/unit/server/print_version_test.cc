#include "server/print_version.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace {
namespace {

std::string Printed(const runtime::Provenance& libtorch) {
  ::testing::internal::CaptureStdout();
  PrintVersion(libtorch);
  return ::testing::internal::GetCapturedStdout();
}

TEST(PrintVersionTest, TellsThePatchLevelOfAPatchedLibtorchOnly) {
  runtime::Provenance libtorch;
  libtorch.libtorch_version = "2.15.0";
  const std::string stock = Printed(libtorch);
  EXPECT_NE(stock.find("libtorch 2.15.0 "), std::string::npos) << stock;
  libtorch.mps_patch_level = 1;
  EXPECT_EQ(Printed(libtorch), stock + "patch level of libtorch's MPS backend: 1\n");
}

}  // namespace
}  // namespace millrace
