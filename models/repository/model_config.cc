#include "models/repository/model_config.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/descriptor.h"
#include "millrace/config/v1/model.pb.h"
#include "models/config/config_section.h"
#include "models/core/errors.h"
#include "models/core/regular_file.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

namespace pb = google::protobuf;
namespace v1 = millrace::config::v1;

BatchPolicy Convert(const v1::Batching& message, const ConfigSection& section) {
  section.Range("max_batch", message.max_batch(), 0U, 1024U);
  section.Range("linger_us", message.linger_us(), 0U, 1'000'000U);
  section.Range("queue_size", message.queue_size(), 0U, 65536U);
  return {.max_batch = message.max_batch(),
          .linger = std::chrono::microseconds(message.linger_us()),
          .queue_size = message.queue_size()};
}

ModelOrigin Convert(const v1::Origin& message, const ConfigSection& section) {
  constexpr size_t kMostCharacters = 256;
  const auto check = [](const ConfigSection& of, const char* field, const std::string& text) {
    if (text.size() > kMostCharacters)
      of.Error(field, StrCat("has ", text.size(), " characters, allowed 0..256"));
  };
  check(section, "name", message.name());
  check(section, "revision", message.revision());
  check(section, "date", message.date());
  return {.name = message.name(), .revision = message.revision(), .date = message.date()};
}

void ReadCommonPart(const pb::Message& message, const ConfigSection& top, ModelConfig& config) {
  const pb::Descriptor& type = *message.GetDescriptor();
  const pb::Reflection& fields = *message.GetReflection();
  config.license = fields.GetString(message, type.FindFieldByName("license"));
  if (config.license.size() > 256) {
    top.Error("license", StrCat("has ", config.license.size(), " characters, allowed 0..256"));
  }
  const pb::FieldDescriptor* const batching = type.FindFieldByName("batching");
  if (fields.HasField(message, batching)) {
    const auto& policy = static_cast<const v1::Batching&>(fields.GetMessage(message, batching));
    config.batching = Convert(policy, top.Child(policy, "batching"));
  }
  const pb::FieldDescriptor* const origin = type.FindFieldByName("origin");
  if (fields.HasField(message, origin)) {
    const auto& given = static_cast<const v1::Origin&>(fields.GetMessage(message, origin));
    config.origin = Convert(given, top.Child(given, "origin"));
  }
}

// Returns true for a config with fields that Triton's has and ours have not.
bool IsTritons(std::string_view text) {
  for (const absl::string_view line : absl::StrSplit(View(text), '\n')) {
    const absl::string_view begin = absl::StripLeadingAsciiWhitespace(line);
    for (const char* field : {"platform", "backend", "max_batch_size", "input", "output"}) {
      if (!absl::StartsWith(begin, field)) continue;
      const absl::string_view rest =
          absl::StripLeadingAsciiWhitespace(begin.substr(std::strlen(field)));
      if (absl::StartsWith(rest, ":") || absl::StartsWith(rest, "[") || absl::StartsWith(rest, "{"))
        return true;
    }
  }
  return false;
}

// Returns the kind whose field is set in the message; null if none is.
const ModelKind* FindKind(const pb::Message& message, const ModelKinds& kinds) {
  const pb::FieldDescriptor* const field = message.GetReflection()->GetOneofFieldDescriptor(
      message, message.GetDescriptor()->FindOneofByName("kind"));
  if (field == nullptr) return nullptr;
  const auto found =
      std::find_if(kinds.kinds.begin(), kinds.kinds.end(),
                   [&](const ModelKind* kind) { return kind->name == field->name(); });
  return found == kinds.kinds.end() ? nullptr : *found;
}

}  // namespace

ModelInfo MakeModelInfo(const ModelConfig& config, std::string name, int64_t version) {
  ModelInfo info;
  info.name = std::move(name);
  info.version = version;
  info.platform = config.kind->name;
  info.license = config.license;
  info.batching = config.batching;
  info.batching.max_batch = std::max<size_t>(info.batching.max_batch, 1);
  info.details = config.settings->Details();
  return info;
}

absl::StatusOr<ModelConfig> ParseModelConfig(std::string_view text, std::string_view source,
                                             const ModelKinds& kinds) {
  ConfigErrors errors(source);
  if (!IsValidUtf8(text)) {
    errors.Add(-1, 0, "is not valid UTF-8, as a model.pbtxt is");
    return errors.ToStatus();
  }
  pb::TextFormat::ParseInfoTree tree;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.WriteLocationsTo(&tree);
  const std::unique_ptr<pb::Message> message(kinds.schema->New());
  if (!parser.ParseFromString(std::string(text), message.get())) {
    if (errors.empty()) errors.Add(-1, 0, "is not Protobuf text format");
    if (IsTritons(text)) {
      errors.Add(-1, 0,
                 "it is written as Triton's config.pbtxt; here a TorchScript module is "
                 "torchscript { file: \"model.pt\" inputs { name: \"INPUT0\" datatype: \"FP32\" "
                 "shape: [64] } outputs { ... } }, as docs/models.md shows");
    }
    return errors.ToStatus();
  }

  const ConfigSection top(*message, &tree, "", pb::TextFormat::ParseLocation(), errors);
  ModelConfig config;
  ReadCommonPart(*message, top, config);
  config.kind = FindKind(*message, kinds);
  if (config.kind != nullptr) {
    const std::string field(config.kind->name);
    const pb::Message& settings = message->GetReflection()->GetMessage(
        *message, message->GetDescriptor()->FindFieldByName(field));
    config.settings = config.kind->parse(top.Child(settings, field));
  } else {
    const auto name = [](std::string* out, const ModelKind* kind) { out->append(kind->name); };
    errors.Add(-1, 0,
               StrCat("no kind of model is given, allowed is exactly one of ",
                      absl::StrJoin(kinds.kinds, ", ", name)));
  }
  if (!errors.empty()) return errors.ToStatus();
  return config;
}

absl::StatusOr<ModelConfig> ReadModelConfig(const std::filesystem::path& file,
                                            const ModelKinds& kinds) {
  MILLRACE_ASSIGN_OR_RETURN(const std::string text, ReadRegularFile(file, kMaxConfigBytes));
  return ParseModelConfig(text, file.string(), kinds);
}

}  // namespace millrace::models
