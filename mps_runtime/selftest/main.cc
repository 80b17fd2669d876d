// The selftest as a program of its own, where the server is not built.
#include <charconv>
#include <cstdio>
#include <string>

#include "mps_runtime/probe/operator_probe.h"
#include "mps_runtime/selftest/program.h"

namespace {

constexpr char kUsage[] =
    "usage: millrace_selftest [--device auto|cpu|cuda|mps] [--filter TEXT] [--json] [--list]\n"
    "                         [--require-patch-level N]\n"
    "  --device DEVICE  Device to test (default: auto, the best that is there)\n"
    "  --filter TEXT    Only tests with this in their name\n"
    "  --json           Print one JSON document at the end\n"
    "  --list           Print the tests and what each shows, without running them\n"
    "  --require-patch-level N\n"
    "                   Fail unless libtorch's MPS backend is patched to at least this level,\n"
    "                   0 or 1 (default: 0)\n";

int Refuse(const std::string& what) {
  std::fprintf(stderr, "millrace_selftest: %s\n%s", what.c_str(), kUsage);
  return 2;
}

bool ParsePatchLevel(const std::string& text, int& level) {
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, level);
  return error == std::errc() && parsed == end && level >= 0 &&
         level <= millrace::runtime::kMaxMpsPatchLevel;
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto status = millrace::runtime::OperatorProbeMain(argc, argv)) return *status;
  millrace::runtime::SelftestProgram program;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    const std::string flag = argument.substr(0, equals);
    if (flag == "--device" || flag == "--filter" || flag == "--require-patch-level") {
      if (equals == argument.npos && i + 1 == argc) return Refuse(flag + ": needs a value");
      const std::string value = equals == argument.npos ? argv[++i] : argument.substr(equals + 1);
      if (flag == "--filter") {
        program.filter = value;
      } else if (flag == "--require-patch-level") {
        if (!ParsePatchLevel(value, program.options.require_patch_level))
          return Refuse("--require-patch-level " + value + ": allowed are 0 and 1");
      } else if (value == "auto") {
        program.options.device.reset();
      } else if (!(program.options.device = millrace::runtime::ParseDeviceType(value))) {
        return Refuse("--device " + value + ": allowed are auto, cpu, cuda and mps");
      }
    } else if (argument == "--json") {
      program.json = true;
    } else if (argument == "--list") {
      program.list = true;
    } else if (argument == "--help" || argument == "-h") {
      std::fputs(kUsage, stdout);
      return 0;
    } else {
      return Refuse("unknown argument " + argument);
    }
  }
  return millrace::runtime::RunSelftestProgram(program);
}
