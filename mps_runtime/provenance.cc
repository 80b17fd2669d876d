#include "mps_runtime/provenance.h"

#include <stdexcept>
#include <string_view>

#include "mps_runtime/stream_symbols.h"

namespace millrace::runtime {
namespace {

// Returns true if a version matches the required prefix: "2.15" covers 2.15 and 2.15.0, not 2.150.
bool Covers(std::string_view required, std::string_view version) {
  return version.starts_with(required) &&
         (version.size() == required.size() || version[required.size()] == '.');
}

void CheckPatchLevel(const Provenance& provenance) {
  const int level = provenance.mps_patch_level;
  if (level == 0) return;
  std::string found = kPatchLevel;
  found += "() = " + std::to_string(level) + " in the libtorch from " + provenance.libtorch_path +
           ": allowed is " + std::to_string(kMaxMpsPatchLevel);
  if (level < 0 || level > kMaxMpsPatchLevel) throw std::runtime_error(found);
  if (provenance.pool_symbols != kStreamsByNumber) {
    throw std::runtime_error(found + " where there is " + kGetStreamById +
                             ", and this libtorch lacks it");
  }
}

void AppendPair(std::string& line, std::string_view key, const std::string& value) {
  if (!line.empty()) line += ' ';
  line += key;
  line += '=';
  const bool quoted = value.empty() || value.find(' ') != std::string::npos;
  if (quoted) line += '"';
  line += value;
  if (quoted) line += '"';
}

}  // namespace

void CheckLibtorch(const Provenance& provenance, const std::string& required) {
  const std::string& loaded = provenance.libtorch_version;
  if (loaded != provenance.compiled_against) {
    throw std::runtime_error("libtorch " + loaded + " was loaded from " + provenance.libtorch_path +
                             ", but this was compiled against " + provenance.compiled_against +
                             ": build again, or put that version on the library path");
  }
  if (!required.empty() && !Covers(required, loaded)) {
    throw std::runtime_error("require_libtorch = " + required + ": libtorch " + loaded +
                             " was loaded from " + provenance.libtorch_path);
  }
  CheckPatchLevel(provenance);
}

std::string ToLogLine(const Provenance& provenance) {
  std::string line;
  AppendPair(line, "device", provenance.device);
  AppendPair(line, "device_name", provenance.device_name);
  AppendPair(line, "libtorch", provenance.libtorch_version);
  AppendPair(line, "revision", provenance.libtorch_git_revision);
  AppendPair(line, "path", provenance.libtorch_path);
  AppendPair(line, "compiled_against", provenance.compiled_against);
  AppendPair(line, "blas", provenance.blas);
  AppendPair(line, "cpu_capability", provenance.cpu_capability);
  AppendPair(line, "mps_pool", provenance.pool_symbols);
  AppendPair(line, "mps_patch", std::to_string(provenance.mps_patch_level));
  AppendPair(line, "threads", provenance.threads);
  return line;
}

}  // namespace millrace::runtime
