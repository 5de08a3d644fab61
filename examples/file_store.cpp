#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include <allot/allot.hpp>
#include <allot/core/sentence.hpp>
#include <allot/journal/posix_folder.hpp>
#include <allot/journal/store.hpp>

// A network on one machine that outlasts a crash: every command is in a log before it is applied, and its events are
// told once the log is on the device. Run it twice with a folder of your own, and the second run goes on where the
// first one ended: file_store FOLDER.

using Store = allot::Store<allot::Dispatcher<>, allot::PosixFolder>;
using Clock = std::chrono::system_clock;

int main(int argc, char** argv) {
    const auto own = argc > 1;
    const auto path =
        own ? std::string{argv[1]} : (std::filesystem::temp_directory_path() / "allot-file_store").string();
    auto folder = allot::PosixFolder::open(path);
    if (!folder) {
        std::printf("%s: %s\n", path.c_str(), message(folder.error()).data());
        return 1;
    }
    auto store = Store::open(*std::move(folder), allot::Dispatcher<>{});
    if (!store) {
        std::printf("%s: %s\n", store.error().file.c_str(), message(store.error().error).data());
        return 1;
    }

    auto clock = allot::ForwardTime{store->dispatcher().now()};
    const auto now = [&] { return allot::Moment{clock(allot::network_time(Clock::now())), allot::Entropy{2026}, {}}; };
    auto events = allot::Events{};
    auto failed = store->resume(now().time, events);  // nodes at work keep their leases over the time that we were away
    const auto apply = [&](const auto& command) {
        if (!failed) { failed = store->apply(command, now(), events); }
    };
    apply(allot::command::Join{{.id = "relay-7", .gpu = "RTX 4090", .vram = {24}, .stake = 400}});
    apply(allot::command::Submit{
        {.id = store->position(), .vram_min = {8}, .fee = 10, .duration_estimate = std::chrono::seconds{20}}});
    if (!failed) { failed = store->sync(); }
    if (failed) {
        std::printf("%s: %s\n", path.c_str(), message(*failed).data());
        return 1;
    }
    for (const auto& event : events) { std::printf("%s\n", allot::sentence(event).c_str()); }
    std::printf("%llu commands in %s\n", static_cast<unsigned long long>(store->position()), path.c_str());
    if (!own) { std::filesystem::remove_all(path); }
}
