#include "ordered_log.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <random>

#include <fmt/format.h>

#include "packed.hpp"

namespace service::etcd {

namespace {

constexpr auto remembered_max = std::size_t{4'096};

auto position_of(const pb::KeyValue& kv) -> std::uint64_t { return static_cast<std::uint64_t>(kv.mod_revision()); }

/// The number behind the last slash.
auto nonce_of(const std::string& key) -> std::uint64_t {
    auto nonce = std::uint64_t{0};
    const auto text = std::string_view{key}.substr(key.rfind('/') + 1);
    std::from_chars(text.data(), text.data() + text.size(), nonce, 16);
    return nonce;
}

auto failure(allot::OrderedLogError error) { return allot::FailureOf<allot::OrderedLogError>{error}; }

}  // namespace

auto hex_of(std::uint64_t number) -> std::string { return fmt::format("{:016x}", number); }

auto OrderedLog::append(allot::ReplicaId proposer, std::uint64_t nonce, std::span<const std::uint8_t> bytes)
    -> allot::Result<std::uint64_t, allot::OrderedLogError> {
    const auto value = packed(bytes);
    while (true) {
        auto& lane = own_lanes_[proposer];
        if (lane == 0) { lane = std::uint64_t{std::random_device{}()} << 32U | proposer; }
        const auto key = prefix() + hex_of(lane) + '/' + hex_of(nonce);
        // An entry that was dropped since is known here alone.
        const auto known =
            std::find_if(appended_.rbegin(), appended_.rend(), [&](const auto& a) { return a.first == key; });
        if (known != appended_.rend()) { return known->second; }
        auto request = pb::TxnRequest{};
        *request.add_compare() = is_absent(key);
        *request.add_success() = put(key, value);
        *request.add_failure() = get(key);
        auto response = pb::TxnResponse{};
        const auto status = client_.ask(
            [&](const Member& member, auto& context) { return member.kv->Txn(&context, request, &response); });
        if (!status.ok()) { return failure(allot::OrderedLogError::unavailable); }
        auto position = static_cast<std::uint64_t>(response.header().revision());
        if (!response.succeeded()) {
            const auto& found = response.responses(0).response_range();
            if (found.kvs_size() == 0 || found.kvs(0).value() != value) {
                own_lanes_.erase(proposer);  // another party has this lane: draw a new one
                continue;
            }
            position = position_of(found.kvs(0));
        }
        appended_.emplace_back(key, position);
        if (appended_.size() > remembered_max) { appended_.pop_front(); }
        return position;
    }
}

auto OrderedLog::range(const std::string& from, const std::string& end, std::int64_t limit, bool keys_only)
    -> std::optional<pb::RangeResponse> {
    auto request = pb::RangeRequest{};
    request.set_key(from);
    request.set_range_end(end);
    request.set_limit(limit);
    request.set_keys_only(keys_only);
    request.set_revision(revision_);
    auto response = pb::RangeResponse{};
    const auto status = client_.ask(
        [&](const Member& member, auto& context) { return member.kv->Range(&context, request, &response); });
    return status.ok() ? std::optional{std::move(response)} : std::nullopt;
}

/// All lanes with entries, by a look behind the last key of each.
auto OrderedLog::lanes() -> std::optional<std::vector<std::string>> {
    auto out = std::vector<std::string>{};
    for (auto from = prefix();;) {
        const auto found = range(from, end_of(prefix()), 1, true);
        if (!found) { return std::nullopt; }
        if (found->kvs_size() == 0) { return out; }
        const auto& key = found->kvs(0).key();
        out.push_back(key.substr(0, key.rfind('/') + 1));
        from = end_of(out.back());
    }
}

/// The nonce from which all entries of the lane are above a position. Steps that double find where to halve.
auto OrderedLog::first_above(const std::string& lane, std::uint64_t after) -> std::optional<std::uint64_t> {
    auto has_failed = false;
    // The nonce of the first entry from `nonce` on, if it is not above.
    const auto below_from = [&](std::uint64_t nonce) -> std::optional<std::uint64_t> {
        const auto found = range(lane + hex_of(nonce), end_of(lane), 1, true);
        has_failed = has_failed || !found;
        if (!found || found->kvs_size() == 0 || position_of(found->kvs(0)) > after) { return std::nullopt; }
        return nonce_of(found->kvs(0).key());
    };
    auto low = below_from(0);
    if (has_failed) { return std::nullopt; }
    if (!low) { return 0; }
    auto high = std::optional<std::uint64_t>{};
    for (auto step = std::uint64_t{1}; !high || *high - *low > 1; step *= 2) {
        const auto middle = high ? *low + (*high - *low) / 2 : *low + step;
        const auto found = below_from(middle);
        if (has_failed) { return std::nullopt; }
        (found ? low : high) = found ? found : std::optional{middle};
    }
    return high;
}

auto OrderedLog::fill(Lane& lane) -> bool {
    const auto found = range(lane.next, lane.end, page_entries_, false);
    if (!found) { return false; }
    for (const auto& kv : found->kvs()) { lane.page.push_back({position_of(kv), unpacked(kv.value())}); }
    lane.next = found->kvs_size() < page_entries_ ? lane.end : found->kvs(found->kvs_size() - 1).key() + '\0';
    return true;
}

/// Chooses a revision to read at, and finds the place of `after` in each lane.
auto OrderedLog::pin(std::uint64_t after) -> Pinned {
    lanes_.clear();
    revision_ = 0;  // the latest
    const auto head = range(cluster_ + "/compacted", "", 1, false);
    if (!head) { return Pinned::failed; }
    if (head->kvs_size() > 0 && std::strtoull(head->kvs(0).value().c_str(), nullptr, 10) > after) {
        return Pinned::compacted;
    }
    revision_ = head->header().revision();
    const auto all = lanes();
    if (!all) { return Pinned::failed; }
    for (const auto& lane : *all) {
        const auto first = first_above(lane, after);
        if (!first) { return Pinned::failed; }
        lanes_.push_back({lane + hex_of(*first), end_of(lane), {}});
    }
    read_to_ = after;
    return Pinned::ok;
}

auto OrderedLog::read(std::uint64_t after, std::size_t count_max)
    -> allot::Result<std::vector<allot::LoggedEntry>, allot::OrderedLogError> {
    auto out = std::vector<allot::LoggedEntry>{};
    const auto failed = [&](allot::OrderedLogError error) {
        is_pinned_ = false;
        return failure(error);
    };
    const auto had_pin = is_pinned_ && read_to_ == after;
    if (!had_pin) {
        const auto pinned = pin(after);
        if (pinned == Pinned::compacted) { return failed(allot::OrderedLogError::compacted); }
        if (pinned == Pinned::failed) { return failed(allot::OrderedLogError::unavailable); }
        is_pinned_ = true;
    }
    is_at_end_ = false;
    while (out.size() < count_max) {
        Lane* first = nullptr;
        for (auto& lane : lanes_) {
            if (lane.page.empty() && lane.next != lane.end && !fill(lane)) {
                return failed(allot::OrderedLogError::unavailable);
            }
            if (lane.page.empty()) { continue; }
            if (first == nullptr || lane.page.front().position < first->page.front().position) { first = &lane; }
        }
        is_at_end_ = first == nullptr;
        if (is_at_end_) { break; }
        read_to_ = first->page.front().position;
        out.push_back(std::move(first->page.front()));
        first->page.pop_front();
    }
    if (out.empty() && had_pin) {  // entries may have come since
        is_pinned_ = false;
        return read(after, count_max);
    }
    return out;
}

auto OrderedLog::compact(std::uint64_t through) -> std::optional<allot::OrderedLogError> {
    is_pinned_ = false;
    const auto pinned = pin(through);
    if (pinned == Pinned::compacted) { return std::nullopt; }  // another one went further
    if (pinned == Pinned::failed) { return allot::OrderedLogError::unavailable; }
    // The mark first: a reader that begins now must not miss what is deleted.
    auto request = pb::TxnRequest{};
    *request.add_success() = put(cluster_ + "/compacted", std::to_string(through));
    auto response = pb::TxnResponse{};
    auto status =
        client_.ask([&](const Member& member, auto& context) { return member.kv->Txn(&context, request, &response); });
    for (const auto& lane : lanes_) {
        if (!status.ok()) { break; }
        auto erase = pb::TxnRequest{};
        auto& range = *erase.add_success()->mutable_request_delete_range();
        range.set_key(lane.next.substr(0, lane.next.rfind('/') + 1));
        range.set_range_end(lane.next);
        status = client_.ask(
            [&](const Member& member, auto& context) { return member.kv->Txn(&context, erase, &response); });
    }
    if (status.ok()) {  // readers of older revisions pin a new one
        auto forget = pb::CompactionRequest{};
        forget.set_revision(response.header().revision());
        auto forgotten = pb::CompactionResponse{};
        status = client_.ask(
            [&](const Member& member, auto& context) { return member.kv->Compact(&context, forget, &forgotten); });
    }
    return status.ok() ? std::nullopt : std::optional{allot::OrderedLogError::unavailable};
}

}  // namespace service::etcd
