#include "tests/load/loadgen/outputs.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <cstdio>
#include <fstream>

namespace millrace::loadgen {

void Hash::Append(std::string_view bytes) {
  for (const char byte : bytes) {
    value_ = (value_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
}

void Outputs::Add(size_t input, uint64_t bytes, uint64_t hash, std::string_view text) {
  MutexLock lock(mu_);
  const auto [it, added] = outputs_.try_emplace(input, Output{bytes, hash, std::string(text)});
  if (!added && it->second.hash != hash) ++inconsistent_;
}

uint64_t Outputs::inconsistent() const {
  MutexLock lock(mu_);
  return inconsistent_;
}

bool Outputs::Write(const std::string& path) const {
  std::ofstream file(path);
  MutexLock lock(mu_);
  for (const auto& [input, output] : outputs_) {
    char hash[17];
    std::snprintf(hash, sizeof(hash), "%016llx", static_cast<unsigned long long>(output.hash));
    google::protobuf::Struct line;
    auto& fields = *line.mutable_fields();
    fields["index"].set_number_value(static_cast<double>(input));
    fields["bytes"].set_number_value(static_cast<double>(output.bytes));
    fields["hash"].set_string_value(hash);
    if (!output.text.empty()) fields["text"].set_string_value(output.text);
    std::string json;
    if (!google::protobuf::util::MessageToJsonString(line, &json).ok()) return false;
    file << json << "\n";
  }
  return file.flush().good();
}

}  // namespace millrace::loadgen
