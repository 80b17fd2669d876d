#include "models/core/failure_text.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(FailureTextTest, BehindATracebackTheLastLineIsTheCause) {
  EXPECT_EQ(
      FailureCause("The following operation failed in the TorchScript interpreter.\n"
                   "Traceback of TorchScript, serialized code (most recent call last):\n"
                   "  File \"code/__torch__.py\", line 9, in forward\n    return x @ self.w\n"
                   "           ~~~~~~~~~~ <--- HERE\n\n"
                   "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x9 and 8x4)\n\n"),
      "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x9 and 8x4)");
}

TEST(FailureTextTest, AStackTraceBehindATracebackIsNoCause) {
  EXPECT_EQ(
      FailureCause("The following operation failed in the TorchScript interpreter.\n"
                   "Traceback of TorchScript (most recent call last):\n"
                   "  File \"code/__torch__.py\", line 7, in forward\n"
                   "    return torch.add(a, b)\n           ~~~~~~~~~ <--- HERE\n"
                   "RuntimeError: The size of tensor a (2) must match the size of tensor b (3)\n"
                   "Exception raised from infer_size_impl (most recent call first):\n"
                   "frame #0: c10::Error::Error\nframe #1: <unknown function>\n\n"),
      "RuntimeError: The size of tensor a (2) must match the size of tensor b (3)");
}

TEST(FailureTextTest, BeforeAStackTraceTheFirstLineIs) {
  EXPECT_EQ(FailureCause("not enough memory\nException raised from allocate (most recent call "
                         "first):\nframe #0: c10::Error\n"),
            "not enough memory");
  EXPECT_EQ(FailureCause("one line"), "one line");
  EXPECT_EQ(FailureCause(""), "");
  EXPECT_EQ(FailureCause("The following operation failed in the TorchScript interpreter."),
            "The following operation failed in the TorchScript interpreter.");
}

}  // namespace
}  // namespace millrace
