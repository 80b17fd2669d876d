#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/requests/speech_request.h"
#include "server/requests/voice_aliases.h"
#include "server/scheduling/model_directory.h"

namespace millrace::server {

// The names of OpenAI's models and voices, which many clients send because they know no others, and
// the loaded models and voices that they stand for. A loaded model and a voice of the same name
// take precedence. Thread-safe.
class OpenAiNames {
 public:
  // models: must outlive this.
  OpenAiNames(const ModelDirectory& models, VoiceAliases voices)
      : models_(models), voices_(std::move(voices)) {}

  // Replaces aliases by the names of a loaded model and of its voice. Returns InvalidArgument for a
  // voice of no model that the alias of a model may mean; it lists those that exist.
  absl::Status Resolve(SpeechRequest& speech) const;

  // Returns the name of OpenAI's first model for "kokoro", which clients of Kokoro-FastAPI name,
  // unless a model of that name is loaded; else the name itself.
  std::string WithoutKokoro(const std::string& name) const;

  // Returns the loaded model of that name, or all that an alias may mean.
  absl::StatusOr<std::vector<std::shared_ptr<ServedModel>>> ModelsMeantBy(
      const std::string& name) const;
  // Returns the aliases that stand for a model now. Their dated forms, such as "tts-1-1106", do
  // too.
  std::vector<std::string_view> ModelAliases() const;

  struct VoiceAlias {
    std::string name;
    std::string voice;
  };
  // Returns the aliases of a model's voices, for texts that name no language.
  std::vector<VoiceAlias> VoiceAliasesOf(const models::SpeechInfo& info) const;

 private:
  using Models = std::vector<std::shared_ptr<ServedModel>>;

  Models SpeechModels() const;
  bool IsModelAlias(std::string_view name) const;
  absl::Status CheckVoice(const SpeechRequest& speech, const Models& models) const;
  // Sets the best model that has the voice for the language. If the request names neither voice nor
  // language, the language is the text's if that is sure, else English.
  void ChooseModel(SpeechRequest& speech, const Models& models) const;

  const ModelDirectory& models_;
  const VoiceAliases voices_;
};

}  // namespace millrace::server
