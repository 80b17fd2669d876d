#include "models/kernels/arm_features.h"

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#include <sys/types.h>
#endif

namespace millrace::kernels {
namespace {

#if defined(__aarch64__) && defined(__linux__)
ArmFeatures AskForArmFeatures() {
  return {.dot_product = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0,
          .int8_matrix = (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0};
}
#elif defined(__aarch64__) && defined(__APPLE__)
bool Has(const char* name) {
  int value = 0;
  size_t size = sizeof(value);
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value != 0;
}

ArmFeatures AskForArmFeatures() {
  return {.dot_product = Has("hw.optional.arm.FEAT_DotProd"),
          .int8_matrix = Has("hw.optional.arm.FEAT_I8MM")};
}
#else
ArmFeatures AskForArmFeatures() { return {}; }
#endif

}  // namespace

const ArmFeatures& GetArmFeatures() {
  static const ArmFeatures features = AskForArmFeatures();
  return features;
}

}  // namespace millrace::kernels
