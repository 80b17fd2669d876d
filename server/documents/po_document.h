#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/documents/document.h"

namespace millrace::server {

// Reads a catalogue of gettext. Each msgstr that is empty is filled with the translation of its
// msgid, and the plural forms with that of msgid_plural; one with text, the header, comments and
// flags stay.
absl::StatusOr<std::unique_ptr<Document>> ReadPo(std::string bytes, const DocumentLimits& limits);

}  // namespace millrace::server
