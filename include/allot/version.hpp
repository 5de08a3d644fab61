#pragma once

/// The version of the library, by semantic versioning. It is written in this file alone; CMake and pkg-config read it
/// here. While the major number is 0, a minor number may break source and decisions.
#define ALLOT_VERSION_MAJOR 0
#define ALLOT_VERSION_MINOR 20
#define ALLOT_VERSION_PATCH 0

/// The library.
///
/// Every name is in an inline namespace with the major number, so that two majors linked into one program fail at link
/// time instead of disagreeing at run time.
namespace allot { inline namespace v0 {

/// The rules version in which a dispatcher begins. `Configure` sets another one; below 2 a dispatcher decides as
/// release 0.2 did (`docs/rules.md`, rule 12).
inline constexpr unsigned rules_version_newest = 2;

}}  // namespace allot::v0
