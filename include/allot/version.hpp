#pragma once

/// The version of the library, by semantic versioning. It is written in this file alone; CMake and pkg-config read it
/// here. While the major number is 0, a minor number may break source and decisions.
#define ALLOT_VERSION_MAJOR 0
#define ALLOT_VERSION_MINOR 2
#define ALLOT_VERSION_PATCH 0

/// The library.
///
/// Every name is in an inline namespace with the major number, so that two majors linked into one program fail at link
/// time instead of disagreeing at run time.
namespace allot { inline namespace v0 {
}}  // namespace allot::v0
