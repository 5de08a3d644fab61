#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/encode.hpp>
#include <allot/journal/snapshot.hpp>

#include "fuzz/support/histories.hpp"
#include "fuzz/support/target.hpp"
#include "support/commands.hpp"

namespace fuzz_snapshot {

// An input is what stands between the head and the hashes of a snapshot, then steps of a script, then how many.

namespace {

using Fast = allot::Dispatcher<>;
using Linear = allot::Dispatcher<allot::LinearPool, allot::LinearQueue>;

template <class D>
auto loaded(const fuzz::Bytes& bytes) -> D {
    auto result = allot::load_snapshot(bytes, D{}, fuzz::limits);
    fuzz::ensure(result.has_value(), "a snapshot of any state is taken");
    fuzz::ensure(allot::snapshot(result->dispatcher, result->position) == bytes, "a state has one snapshot");
    return std::move(result->dispatcher);
}

auto encoded(const allot::Events& events) -> fuzz::Bytes {
    auto all = fuzz::Bytes{};
    for (const auto& event : events) { allot::encode_to(all, event); }
    return all;
}

auto target(std::span<const std::uint8_t> input) -> bool {
    if (input.empty()) { return false; }
    const auto steps = std::size_t{input.back()} % 13;
    input = input.first(input.size() - 1);
    if (input.size() < steps * fuzz::op_size) { return false; }
    auto script = input.last(steps * fuzz::op_size);
    const auto forged = fuzz::forged<Fast>(input.first(input.size() - script.size()));
    if (!forged) { return false; }
    auto fast = loaded<Fast>(*forged);
    auto linear = loaded<Linear>(*forged);
    auto memory = fuzz::memory_of(fast);
    for (; !script.empty(); script = script.subspan(fuzz::op_size)) {
        const auto op = fuzz::op_from(script.first(fuzz::op_size));
        const auto command = *support::interpret(op, memory);
        const auto moment = support::moment_of(op, {}, fast.now(), fast.next_deadline());

        const auto before = allot::snapshot(fast, 1);
        auto session = fast.session();
        const auto tried = fast.apply(command, moment);
        session.rollback();
        fuzz::ensure(allot::snapshot(fast, 1) == before, "what is taken back leaves nothing");

        const auto events = fast.apply(command, moment);
        fuzz::ensure(encoded(events) == encoded(tried), "what was taken back happens again alike");
        fuzz::ensure(encoded(events) == encoded(linear.apply(command, moment)), "linear models decide alike");
        fuzz::ensure(fast.digest() == linear.digest(), "linear models come to the same state");
        memory.hear(events);
        const auto again = loaded<Fast>(allot::snapshot(fast, 1));
        fuzz::ensure(again == fast && again.digest() == fast.digest(), "a state comes back from its snapshot");
    }
    return true;
}

auto seeds() -> std::vector<fuzz::Bytes> {
    auto words = fuzz::Words{2026};
    auto all = std::vector<fuzz::Bytes>{};
    for (const auto length : {0, 3, 8, 15, 25, 40, 60, 90}) {
        auto d = Fast{};
        (void)fuzz::lived(d, words, length);
        auto seed = fuzz::body_of(allot::snapshot(d, 1));
        for (auto i = 0; i < 6; ++i) { fuzz::put_op(seed, fuzz::any_step(words)); }
        seed.push_back(6);
        all.push_back(std::move(seed));
    }
    return all;
}

}  // namespace

ALLOT_FUZZ(snapshot, "any bytes are the one snapshot of a state that lives on, or are refused")

}  // namespace fuzz_snapshot
