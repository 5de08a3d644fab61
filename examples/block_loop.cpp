// A chain client's work on a block: it filters its mempool, proposes, executes the blocks of others, and undoes a fork.
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/event_hash.hpp>
#include <allot/journal/state_root.hpp>

using namespace std::chrono_literals;
using namespace allot::literals;

using Network = allot::Dispatcher<>;
using Command = Network::Command;

/// The outcome of a block. The proposer puts it into the header; the other clients compare.
struct Outcome {
    allot::Hash256 state{};
    allot::Hash256 events{};

    friend auto operator==(const Outcome&, const Outcome&) -> bool = default;
};
struct Block {
    allot::TimePoint time{};  // of the block, agreed upon; it never goes back
    allot::Entropy beacon{};  // of a round that began after the parent block was final
    std::vector<Command> commands{};
    Outcome outcome{};
};

class Client {
public:
    Client() = default;
    Client(const Client&) = delete;  // the sessions refer to `network_`, which must not move
    auto operator=(const Client&) -> Client& = delete;
    ~Client() {
        while (!tips_.empty()) { undo(); }
    }

    /// Adds a command to the mempool, unless it would be refused now.
    void receive(const Command& command) {
        if (!network_.check(command)) { mempool_.push_back(command); }
    }

    [[nodiscard]] auto propose(allot::TimePoint time, const allot::Entropy& beacon) -> Block {
        auto block = Block{time, beacon, mempool_, {}};
        auto session = network_.session();
        block.outcome = execute(block, session);
        take_back(session);
        return block;
    }

    /// Executes a block on top of the blocks that are not final. Returns false, and undoes the block, if its outcome
    /// differs.
    [[nodiscard]] auto accept(const Block& block) -> bool {
        auto session = network_.session();
        if (execute(block, session) != block.outcome) {
            take_back(session);
            return false;
        }
        tips_.push_back(std::move(session));
        std::erase_if(mempool_, [&](const Command& command) { return network_.check(command).has_value(); });
        return true;
    }
    /// Undoes the last block, after another of its height has won.
    void undo() {
        take_back(tips_.back());
        tips_.pop_back();
    }
    /// Makes all blocks so far final.
    void finalise() {
        for (; !tips_.empty(); tips_.pop_back()) { tips_.back().commit(); }
    }

    [[nodiscard]] auto network() const -> const Network& { return network_; }
    [[nodiscard]] auto state_root() -> allot::Hash256 { return root_.root(); }

private:
    using Session = allot::Session<Network>;

    [[nodiscard]] auto execute(const Block& block, const Session& session) -> Outcome {
        auto hash = allot::EventHash{};
        // The beacon first places the tasks that wait from earlier blocks. The block's own commands come without
        // entropy and wait for a beacon that was unknown when they were submitted.
        hash.add(network_.match({block.time, block.beacon}));
        for (const auto& command : block.commands) { hash.add(network_.apply(command, {.time = block.time})); }
        root_.follow(network_, session.touched());  // linear in the touched records, not in the network
        return {root_.root(), hash.value()};
    }
    void take_back(Session& session) {
        const auto touched = session.touched();
        session.rollback();
        root_.follow(network_, touched);
    }

    Network network_{};
    std::vector<Command> mempool_{};
    std::vector<Session> tips_{};  // one for each block that is not final
    allot::StateTree root_{network_};
};

int main() {
    auto proposer = Client{};
    auto validator = Client{};
    auto wrong = 0;
    const auto expect = [&](bool good, const char* claim) {
        std::printf("%s: %s\n", good ? "yes" : "NO", claim);
        wrong += good ? 0 : 1;
    };

    proposer.receive(allot::command::Join{{.id = "relay-7", .gpu = "RTX 4090", .vram = 24_GiB, .stake = 400}});
    proposer.receive(allot::command::Submit{{.id = 7, .vram_min = 16_GiB, .fee = 10, .duration_estimate = 20s}});
    proposer.receive(allot::command::Leave{"nobody"});
    const auto first = proposer.propose(allot::TimePoint{1s}, 0xB1);
    expect(first.commands.size() == 2, "the mempool takes nothing that would be refused");
    expect(proposer.accept(first), "a block that is executed again comes to the same");
    expect(validator.accept(first), "and so it does elsewhere");
    const auto before = validator.state_root();

    auto forged = proposer.propose(allot::TimePoint{2s}, 0xB2);
    forged.outcome.state[0] ^= 1U;
    expect(!validator.accept(forged) && validator.state_root() == before, "a wrong block changes nothing");

    const auto lost = proposer.propose(allot::TimePoint{2s}, 0xB2);
    expect(validator.accept(lost), "another block is built on top");
    expect(validator.network().task(7)->state == allot::TaskState::running, "its beacon places the task");
    validator.undo();
    expect(validator.state_root() == before, "a block that lost is undone");

    const auto won = proposer.propose(allot::TimePoint{3s}, 0xC2);
    expect(validator.accept(won) && proposer.accept(won), "its rival finds the state that it was made for");
    validator.finalise();
    proposer.finalise();
    expect(validator.network() == proposer.network(), "all agree in the end");
    return wrong;
}
