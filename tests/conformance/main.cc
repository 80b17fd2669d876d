#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "tests/conformance/boundary.h"

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == millrace::conformance::kBoundaryChildFlag) {
    return millrace::conformance::BoundaryChildMain(argv[2], std::atoi(argv[3]));
  }
  millrace::conformance::SetProgram(argv[0]);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
