#pragma once

#include <string>
#include <vector>

#include "contract.hpp"
#include "members.hpp"

namespace jobs {

/// What an auditor who knows everything says of a job after it has ended: who lied, and what each block should be.
struct Audit {
    std::vector<std::string> faults;  ///< What must never happen, and did.
    std::vector<std::string> notes;   ///< What may happen, with its probability.
};

[[nodiscard]] auto audited(const Contract& contract, const std::vector<Member>& members, const Keyring& ring) -> Audit;

}  // namespace jobs
