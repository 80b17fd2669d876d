#pragma once

#include <string>
#include <string_view>

#include "models/core/model_info.h"
#include "server/scheduling/model_directory.h"

namespace millrace::server {

// The name of the only program that this server has.
inline constexpr char kWyomingProgram[] = "millrace";

// Returns the name of a model's voice over Wyoming, where the names of all models stand in one
// list: "model/voice".
std::string VoiceName(const models::ModelInfo& model, std::string_view voice);

// Returns the bytes of the info event: one program with the voices of all speech models.
std::string MakeInfoEvent(const ModelDirectory& models);

}  // namespace millrace::server
