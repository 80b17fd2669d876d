#include "models/seq2seq/seq2seq_config.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/regular_file.h"
#include "models/core/strings.h"

namespace millrace::seq2seq {
namespace {

constexpr int64_t kMaxDim = 8192;
constexpr int64_t kMaxLayers = 64;
constexpr int64_t kMaxToken = 1 << 24;
constexpr size_t kMaxLanguages = 1024;
constexpr size_t kMaxSuppressed = 1024;
constexpr size_t kMaxTag = 35;  // characters
constexpr int64_t kLanes = 16;
constexpr int64_t kPanel = 32;

// Reads fields of one object. After the first failure everything that is read is empty.
class Fields {
 public:
  Fields(const nlohmann::json& object, std::string where, absl::Status& status)
      : object_(object), where_(std::move(where)), status_(status) {}

  void Fail(const std::string& field, const std::string& what) {
    if (status_.ok()) status_ = InvalidArgument(where_, field, ": ", what);
  }

  int64_t Integer(const std::string& field, int64_t low, int64_t high) {
    const auto found = object_.find(field);
    if (found == object_.end() || !found->is_number_integer()) {
      Fail(field, StrCat("is missing or not a whole number, allowed ", low, "..", high));
      return low;
    }
    const auto value = found->get<int64_t>();
    if (value < low || value > high)
      Fail(field, StrCat(value, " is out of range, allowed ", low, "..", high));
    return value;
  }
  int32_t Token(const std::string& field) {
    return static_cast<int32_t>(Integer(field, 0, kMaxToken));
  }
  int32_t TokenOr(const std::string& field, int32_t otherwise) {
    return object_.contains(field) ? Token(field) : otherwise;
  }
  float Number(const std::string& field, float low, float high) {
    const auto found = object_.find(field);
    const float value = found != object_.end() && found->is_number() ? found->get<float>() : NAN;
    if (!(value >= low && value <= high))
      Fail(field, StrCat("is missing or out of range, allowed ", low, "..", high));
    return value;
  }
  bool Flag(const std::string& field) {
    const auto found = object_.find(field);
    if (found != object_.end() && found->is_boolean()) return found->get<bool>();
    Fail(field, "is missing, allowed true, false");
    return false;
  }
  std::string Text(const std::string& field, size_t longest) {
    const auto found = object_.find(field);
    std::string value;
    if (found != object_.end() && found->is_string()) value = found->get<std::string>();
    if (value.empty() || value.size() > longest)
      Fail(field, StrCat("is missing or too long, allowed 1..", longest, " characters"));
    return value;
  }
  // Returns the index of the field's value among the names.
  size_t Choice(const std::string& field, std::initializer_list<const char*> names) {
    const auto found = object_.find(field);
    size_t i = 0;
    for (const char* name : names) {
      if (found != object_.end() && found->is_string() && found->get<std::string>() == name)
        return i;
      ++i;
    }
    Fail(field, StrCat("is missing or unknown, allowed ", absl::StrJoin(names, ", ")));
    return 0;
  }
  const nlohmann::json& Array(const std::string& field, size_t most) {
    static const nlohmann::json empty = nlohmann::json::array();
    const auto found = object_.find(field);
    if (found == object_.end() || !found->is_array() || found->size() > most) {
      Fail(field, StrCat("is missing or not an array of at most ", most));
      return empty;
    }
    return *found;
  }

 private:
  const nlohmann::json& object_;
  const std::string where_;
  absl::Status& status_;
};

void ReadLanguages(Fields& top, const std::string& path, absl::Status& status,
                   Seq2SeqConfig& config) {
  config.language_tokens = static_cast<LanguageTokens>(
      top.Choice("language_tokens", {"none", "target_in_source", "source_and_target"}));
  std::set<std::string> tags;
  size_t i = 0;
  for (const nlohmann::json& entry : top.Array("languages", kMaxLanguages)) {
    Fields language(entry, StrCat(path, ": languages[", i++, "]."), status);
    if (!entry.is_object()) {
      language.Fail("tag", "is missing");
      return;
    }
    LanguageToken token;
    token.tag = language.Text("tag", kMaxTag);
    token.code = language.Text("code", kMaxTag);
    token.id = language.Token("word");
    if (!tags.insert(token.tag).second) language.Fail("tag", "'" + token.tag + "' is there twice");
    config.languages.push_back(std::move(token));
  }
  if (config.languages.empty() != (config.language_tokens == LanguageTokens::kNone))
    top.Fail("languages", "are for language_tokens other than none, which needs them");
}

Seq2SeqConfig Read(const nlohmann::json& json, const std::string& path, absl::Status& status) {
  Fields fields(json, path + ": ", status);
  Seq2SeqConfig config;
  config.dim = fields.Integer("dim", kPanel, kMaxDim);
  if (config.dim % kPanel != 0)
    fields.Fail("dim", StrCat(config.dim, " is not a multiple of ", kPanel));
  config.encoder_layers = fields.Integer("encoder_layers", 1, kMaxLayers);
  config.decoder_layers = fields.Integer("decoder_layers", 1, kMaxLayers);
  config.encoder_heads = fields.Integer("encoder_heads", 1, kMaxDim);
  config.decoder_heads = fields.Integer("decoder_heads", 1, kMaxDim);
  for (const auto& [field, heads] : {std::pair{"encoder_heads", config.encoder_heads},
                                     std::pair{"decoder_heads", config.decoder_heads}}) {
    if (config.dim % (heads * kLanes) != 0) {
      fields.Fail(field, StrCat(heads, " heads do not divide dim ", config.dim,
                                " into sizes that are multiples of ", kLanes));
    }
  }
  config.norm_first = fields.Flag("norm_first");
  config.activation = static_cast<Activation>(fields.Choice("activation", {"relu", "swish"}));
  config.embedding_scale = fields.Number("embedding_scale", 1e-3F, 1e3F);
  config.norm_epsilon = fields.Number("norm_epsilon", 1e-12F, 1e-2F);
  config.start = fields.Token("start");
  config.end = fields.Token("end");
  config.source_end = fields.TokenOr("source_end", config.end);
  config.has_source_end = !json.contains("has_source_end") || fields.Flag("has_source_end");
  config.unknown = fields.Token("unknown");
  config.target_unknown = fields.TokenOr("target_unknown", config.unknown);
  config.forced_end = fields.Flag("forced_end");
  for (const nlohmann::json& token : fields.Array("suppressed", kMaxSuppressed)) {
    if (!token.is_number_integer() || token.get<int64_t>() < 0 ||
        token.get<int64_t>() > kMaxToken) {
      fields.Fail("suppressed", StrCat("tokens are whole numbers, 0..", kMaxToken));
      break;
    }
    config.suppressed.push_back(token.get<int32_t>());
  }
  ReadLanguages(fields, path, status, config);
  return config;
}

}  // namespace

absl::StatusOr<Seq2SeqConfig> ReadSeq2SeqConfig(const std::filesystem::path& path) {
  MILLRACE_ASSIGN_OR_RETURN(const std::string text,
                            models::ReadRegularFile(path, models::kMaxSettingsBytes));
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return DataLoss(path.string(), ": is not a JSON object");
  absl::Status status;
  Seq2SeqConfig config = Read(json, path.string(), status);
  if (!status.ok()) return status;
  return config;
}

}  // namespace millrace::seq2seq
