#pragma once

#include <string>

namespace millrace::server {

// Returns an id that cannot be guessed, in the form of a UUID, which DeepL's clients expect.
std::string RandomId();

}  // namespace millrace::server
