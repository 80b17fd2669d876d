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

// The loaded models and voices that the names in a request for speech mean, whatever its protocol.
// No name, and the names of other servers' models, which many clients send because they know no
// others, stand for any speech model. A loaded model and a voice of the same name take precedence;
// the case of letters does not matter. Thread-safe.
class SpeechNames {
 public:
  // models, voices: must outlive this.
  SpeechNames(const ModelDirectory& models, const VoiceAliases& voices)
      : models_(models), voices_(voices) {}
  SpeechNames(const ModelDirectory& models, VoiceAliases&& voices) = delete;

  // Replaces names by those of a loaded model and of its voice; that of the model is not empty
  // then. NotFound and InvalidArgument name what exists. A second call changes nothing.
  absl::Status Resolve(SpeechRequest& speech) const;

  // Returns false if the operator wants no name to stand for another voice.
  bool has_aliases() const { return voices_.has_value(); }
  // Returns true if a loaded model has the voice, or an alias stands for one.
  bool KnowsVoice(const std::string& voice) const;
  // Returns the model's voice for a name in a text, as VoiceNamed does, in the model's spelling.
  std::string VoiceOf(const models::SpeechInfo& info, const std::string& name,
                      std::string_view language) const;

  // Returns the loaded model of that name, or all that an alias may mean.
  absl::StatusOr<std::vector<std::shared_ptr<ServedModel>>> ModelsMeantBy(
      const std::string& name) const;
  // Returns the aliases that stand for a model now. The dated forms of OpenAI's, such as
  // "tts-1-1106", do too.
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
  absl::Status UnknownModel(std::string_view name, const Models& models) const;
  absl::Status CheckVoice(const std::string& voice, const Models& models) const;
  // Sets the best model that has the voice for the language. If the request names neither voice nor
  // language, the language is the text's if that is sure, else English.
  void ChooseModel(SpeechRequest& speech, const Models& models) const;

  const ModelDirectory& models_;
  const VoiceAliases& voices_;
};

}  // namespace millrace::server
