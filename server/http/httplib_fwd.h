#pragma once

// Declares the types of httplib.h, which takes long to compile, for headers that only name them.
namespace httplib {
struct Request;
struct Response;
}  // namespace httplib
