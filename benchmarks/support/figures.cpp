#include "support/figures.hpp"

#include <cstdio>
#include <stdexcept>

#include "support/offer.hpp"

namespace bench {

void Figures::measure(const std::string& title, std::vector<Contestant>& contestants) const {
    std::fprintf(stderr, "... %s\n", title.c_str());
    take_turns(contestants, rounds);
    std::printf("\n%s, ns an operation\n", title.c_str());
    for (const auto& contestant : contestants) {
        std::printf("  %-58s %14.1f (%.1f)\n", contestant.name.c_str(), contestant.measured.min(),
                    contestant.measured.median());
    }
    std::fflush(stdout);
}

Subject::Subject(const char* name, std::function<void(Figures&)> figures) {
    subjects().push_back({name, std::move(figures)});
}

auto subjects() -> std::vector<RegisteredSubject>& {
    static auto all = std::vector<RegisteredSubject>{};
    return all;
}

auto offers() -> std::vector<Offer>& {
    static auto all = std::vector<Offer>{};
    return all;
}

void same(const std::string& what, std::uint64_t a, std::uint64_t b) {
    if (a != b) { throw std::logic_error{what + " decided differently"}; }
}

}  // namespace bench
