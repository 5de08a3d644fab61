#pragma once

/// A dispatcher on replicas that apply one ordered log: entries, client sessions, attestations.
/// Apart from `allot.hpp`, because a program with one process needs none of it.

// IWYU pragma: begin_exports
#include <allot/replica/attestation.hpp>
#include <allot/replica/beacon_chain.hpp>
#include <allot/replica/client_table.hpp>
#include <allot/replica/effects.hpp>
#include <allot/replica/entry.hpp>
#include <allot/replica/ordered_log.hpp>
#include <allot/replica/parameters.hpp>
#include <allot/replica/replica.hpp>
#include <allot/replica/replica_store.hpp>
// IWYU pragma: end_exports
