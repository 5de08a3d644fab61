// Two jobs side by side, among sixteen members, over a real broker: five of the members lie, one is killed during its
// work, one comes late, and the broker is killed in the middle. Run by run.sh; ends by itself, with status 0 if nothing
// is lost, paid twice, or paid without having been verified.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "audit.hpp"
#include "broker_process.hpp"
#include "crew.hpp"
#include "dapp.hpp"
#include "refusals.hpp"
#include "view.hpp"

using namespace std::chrono_literals;

namespace {

struct Options {
    std::vector<std::string> files;
    std::string folder;
    std::uint64_t seed = 1;
    std::uint32_t adversaries = jobs::adversaries_max;
    bool no_view = false;
};

const auto slicing = allot::Slicing{3, 4, 1, 12, 1};
constexpr auto block_time = 150ms;
constexpr auto run_max = 175s;
constexpr auto broker_away = 3s;

volatile std::sig_atomic_t interrupted = 0;

/// Prints words in lines of at most 80 columns.
void print_wrapped(const std::string& text) {
    auto line = std::string{};
    for (auto words = std::istringstream{text}; words;) {
        auto word = std::string{};
        words >> word;
        if (!words || line.size() + word.size() >= 80) {
            fmt::print("{}\n", line);
            line = "   ";
        }
        line += (line.empty() ? "" : " ") + word;
    }
}

auto seconds(allot::Duration time) -> double { return static_cast<double>(time.count()) / 1000.0; }

auto specs(const Options& options) -> std::vector<allot::JobSpec> {
    auto all = std::vector<allot::JobSpec>{};
    const auto dapp = allot::NodeId{jobs::dapp_name};
    for (std::size_t i = 0; i < options.files.size(); ++i) {
        all.push_back({jobs::job_of(i),
                       allot::Entropy{allot::RecordHasher{"job"}.word(options.seed).word(i).finish()},
                       slicing,
                       "hash",
                       options.files[i],
                       {dapp, allot::NodeId::null(), dapp}});
    }
    return all;
}

/// One run, from the first start to the last payment.
class Run {
public:
    explicit Run(const Options& options)
        : options_{options}, members_{jobs::sixteen(options.adversaries)}, key_{options.seed, jobs::dapp_name},
          broker_{options.folder, options.seed, names()}, view_{!options.no_view && isatty(STDOUT_FILENO) == 1} {
        ring_.admit(jobs::dapp_name, key_.public_key());
        for (const auto& name : names()) { ring_.admit(name, jobs::SigningKey{options.seed, name}.public_key()); }
        for (const auto& spec : specs(options)) { contracts_.emplace_back(spec, jobs::samples_promised, key_, ring_); }
        broker_.start();
        dapp_.emplace(contracts_, jobs::password_of(options.seed, jobs::dapp_name), broker_.port(), key_, ring_);
        crew_.emplace(members_, jobs::Crew::Options{options.seed, broker_.port(), options.folder, block_time}, ring_);
        scene_.broker = "runs";
    }

    /// Returns the status of the program.
    auto conduct() -> int {
        began_ = jobs::now();
        for (const auto& member : members_) {
            if (member.name != late) { crew_->start(member.name); }
        }
        scene_.fates[late] = "comes late";
        auto draw_at = jobs::now();
        while (!over() && jobs::now() < began_ + run_max && interrupted == 0) {
            dapp_->poll(30);
            direct();
            if (const auto lost = crew_->lost()) {
                throw std::runtime_error{"the process of " + *lost + " ended by itself"};
            }
            if (jobs::now() < draw_at) { continue; }
            draw_at = jobs::now() + 200ms;
            draw();
        }
        draw();
        if (interrupted != 0) { throw std::runtime_error{"interrupted"}; }
        return summary();
    }

private:
    static constexpr auto late = "gus";

    [[nodiscard]] auto names() const -> std::vector<std::string> {
        auto all = std::vector<std::string>{};
        for (const auto& member : members_) { all.push_back(member.name); }
        return all;
    }
    void draw() {
        scene_.title = fmt::format("Two jobs, sixteen members, {} of them liars; seed {}; {:.1f} s",
                                   options_.adversaries, options_.seed, seconds(jobs::now() - began_));
        view_.draw(*dapp_, *crew_, scene_);
    }
    /// All jobs are settled, and every member that lives and keeps to the protocol knows it, and repeated the proof.
    [[nodiscard]] auto over() const -> bool {
        return std::all_of(members_.begin(), members_.end(), [&](const auto& member) {
            return member.role == jobs::Role::forger || (killed_ && member.name == victim_) ||
                   (crew_->runs(member.name) && dapp_->knows_all_ends(member.name) &&
                    dapp_->has_repeated_proofs(member.name));
        });
    }

    /// What goes wrong, and when.
    void direct() {
        const auto time = jobs::now();
        if (!killed_ && time > began_ + 1s) {
            if (const auto* member = honest_worker()) {
                victim_ = member->name;
                crew_->kill(victim_);
                killed_ = time;
                scene_.fates[victim_] = "KILLED at its work";
            }
        }
        if (killed_ && !late_ && time > *killed_ + 2s) {
            late_ = true;
            crew_->start(late);
            scene_.fates[late] = "came late, takes part";
        }
        if (!broker_killed_ && done_of_ten() >= (dapp_->reports().contains(late) ? 5U : 8U)) { kill_broker(time); }
        if (broker_killed_ && !broker_back_ && time > *broker_killed_ + broker_away) {
            broker_.start();
            broker_back_ = true;
            scene_.broker = fmt::format("was killed at {:.1f} s, and runs again since {:.1f} s",
                                        seconds(*broker_killed_ - began_), seconds(jobs::now() - began_));
            crew_->start(reborn_);
            scene_.fates[reborn_] = "back with its disk";
        }
    }
    [[nodiscard]] auto done_of_ten() const -> std::uint64_t {
        auto done = std::uint64_t{0};
        auto all = std::uint64_t{0};
        for (const auto& contract : contracts_) {
            done += contract.progress().first;
            all += contract.progress().second;
        }
        return done * 10 / all;
    }
    /// The broker goes, and with it an honest member that works just then.
    void kill_broker(allot::TimePoint time) {
        const auto* member = honest_worker();
        if (member == nullptr) { return; }
        broker_.kill();
        late_was_there_ = dapp_->reports().contains(late);
        broker_killed_ = time;
        scene_.broker = "KILLED; nobody hears anybody";
        reborn_ = member->name;
        crew_->kill(reborn_);
        scene_.fates[reborn_] = "KILLED with the broker";
    }
    /// An honest member that works just then, and to whom nothing else happens; null if there is none.
    [[nodiscard]] auto honest_worker() const -> const jobs::Member* {
        const auto at = std::find_if(members_.begin(), members_.end(), [&](const auto& member) {
            return member.role == jobs::Role::honest && member.name != victim_ && member.name != late &&
                   dapp_->holds(member.name) && std::filesystem::exists(options_.folder + "/" + member.name + ".json");
        });
        return at == members_.end() ? nullptr : &*at;
    }

    auto summary() -> int {
        auto faults = std::vector<std::string>{};
        auto notes = std::vector<std::string>{};
        fmt::print("\n");
        for (std::size_t i = 0; i < contracts_.size(); ++i) {
            const auto name = static_cast<char>('A' + i);
            const auto audit = jobs::audited(contracts_[i], members_, ring_);
            for (const auto& fault : audit.faults) { faults.push_back(fmt::format("job {}: {}", name, fault)); }
            for (const auto& note : audit.notes) { notes.push_back(fmt::format("job {}: {}", name, note)); }
            print_book(name, contracts_[i]);
        }
        check_stage(faults);
        if (notes.empty()) { fmt::print("No block that was paid is wrong.\n"); }
        for (const auto& note : notes) { print_wrapped(note + "."); }
        for (const auto& fault : faults) { fmt::print("WRONG: {}\n", fault); }
        if (faults.empty()) {
            fmt::print("After {:.1f} s: nothing is lost, nothing was paid twice, and all was verified.\n",
                       seconds(jobs::now() - began_));
        } else {
            for (const auto& line : jobs::View::macro_lines(*dapp_)) { fmt::print("{}\n", line); }
            fmt::print("The same again: --seed {} --adversaries {}\n", options_.seed, options_.adversaries);
        }
        return faults.empty() ? 0 : 1;
    }
    static void print_book(char name, const jobs::Contract& contract) {
        auto sum = allot::u128{0};
        auto text = std::string{};
        for (const auto& [wallet, amount] : contract.book().paid) {
            sum = sum + amount.units;
            const auto owner = wallet.text().substr(std::string{"wallet of "}.size());
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", owner, amount.units.low());
        }
        print_wrapped(fmt::format("Job {} paid {} of {}, refunded {}: {}", name, sum.low(), jobs::Contract::deposit,
                                  contract.book().refund.units.low(), text));
        if (const auto& proof = contract.proof()) {
            print_wrapped(
                fmt::format("Job {} opened its seed, and each member computed {} blocks again: all are as the "
                            "contract signed them, and contradict those who are named",
                            name, proof->blocks.size()));
        }
        auto culprits = std::string{};
        for (const auto& culprit : contract.culprits()) { culprits += " " + culprit; }
        fmt::print("Job {} named{}\n", name, culprits.empty() ? " nobody" : culprits);
    }
    /// A run that showed too little proves too little.
    void check_stage(std::vector<std::string>& faults) const {
        const auto wrong = [&](bool is, std::string what) {
            if (is) { faults.push_back(std::move(what)); }
        };
        wrong(!killed_ || !late_, "nobody was killed, or nobody came late");
        wrong(!broker_back_ || reborn_.empty(), "the broker was not killed, or nobody with it");
        wrong(dapp_->reconnects() == 0, "the dapp never lost the broker");
        auto honest = std::vector<std::string>{};
        for (const auto& member : members_) {
            const auto heard = dapp_->reports().find(member.name);
            if (member.role == jobs::Role::forger) {
                wrong(heard == dapp_->reports().end() || !heard->second.refused.empty(),
                      "the forger is mute, or heard what the broker should not have passed on");
            }
            if (member.role == jobs::Role::forger || (killed_ && member.name == victim_)) { continue; }
            if (member.role == jobs::Role::honest) { honest.push_back(member.name); }
            const auto report = dapp_->reports().find(member.name);
            const auto known = report != dapp_->reports().end();
            wrong(!known || !dapp_->knows_all_ends(member.name), member.name + " does not know how the jobs ended");
            wrong(!known || !dapp_->has_repeated_proofs(member.name), member.name + " did not repeat both proofs");
            wrong(known && member.name == reborn_ && report->second.resumed == 0,
                  member.name + " came back with an empty disk");
            wrong(known && member.name != reborn_ && (member.name != late || late_was_there_) &&
                      report->second.reconnects == 0,
                  member.name + " never lost the broker");
        }
        auto refused = std::uint64_t{0};
        auto text = std::string{};
        for (const auto& [what, times] : dapp_->refused(honest)) {
            refused += times;
            text += fmt::format("{}{} {}", text.empty() ? ": " : ", ", times, what);
            // Leases overlap while a queue changes hands, so these two befall the honest, too.
            const auto befalls = what == "result_unleased" || what == "blocks_unleased";
            wrong(options_.adversaries == 0 && !befalls, "an honest message was refused as " + what);
            wrong(what == jobs::access_broken, "the broker's access list has a hole");
        }
        print_wrapped(fmt::format("The honest refused {} messages{}", refused, text));
        wrong(options_.adversaries >= 4 && refused < 100, "the forger did not get to work");
    }

    Options options_;
    std::vector<jobs::Member> members_;
    jobs::SigningKey key_;
    jobs::Keyring ring_;
    jobs::BrokerProcess broker_;
    std::vector<jobs::Contract> contracts_;
    std::optional<jobs::Dapp> dapp_{};
    std::optional<jobs::Crew> crew_{};
    jobs::View view_;
    jobs::Scene scene_{};
    allot::TimePoint began_{};
    std::optional<allot::TimePoint> killed_{};
    std::optional<allot::TimePoint> broker_killed_{};
    bool late_ = false;
    bool late_was_there_ = false;  // when the broker was killed
    bool broker_back_ = false;
    std::string victim_;
    std::string reborn_;
};

}  // namespace

int main(int argc, char** argv) {
    auto app = CLI::App{"Two jobs among sixteen members, some of whom lie, over a broker that is killed meanwhile."};
    auto options = Options{};
    app.add_option("--file", options.files, "whose blocks are hashed; one for each of the two jobs")
        ->required()
        ->expected(2);
    app.add_option("--folder", options.folder, "for the broker's files and the members' state")->required();
    app.add_option("--seed", options.seed, "of the keys, the jobs and the lies")->capture_default_str();
    app.add_option("--adversaries", options.adversaries, "number of liars among the members")
        ->capture_default_str()
        ->check(CLI::Range(0U, jobs::adversaries_max));
    app.add_flag("--no-view", options.no_view, "print a line for each change, also on a terminal");
    CLI11_PARSE(app, argc, argv);
    for (const auto signal : {SIGINT, SIGTERM, SIGHUP}) {
        std::signal(signal, [](int) { interrupted = 1; });
    }
    try {
        return Run{options}.conduct();
    } catch (const std::exception& error) {
        fmt::print(stderr, "jobs: {}\n", error.what());
        return 1;
    }
}
