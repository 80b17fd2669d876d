#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/documents/document.h"

namespace millrace::server {

// Reads a catalogue of gettext. Each msgstr that is empty is filled with the translation of its
// msgid, and the plural forms with that of msgid_plural, as many as the header says. A msgstr with
// text, comments and flags stay, and so does the header where it names a language and plural forms;
// else it gets those of the target language. A translation that does not take the arguments of its
// format string stays empty.
absl::StatusOr<std::unique_ptr<Document>> ReadPo(std::string bytes, const DocumentLimits& limits,
                                                 std::string_view target_language);

}  // namespace millrace::server
