#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <allot/core/id.hpp>
#include <allot/core/random.hpp>
#include <allot/core/time.hpp>
#include <allot/core/units.hpp>
#include <allot/result.hpp>
#include <allot/validation/commitment.hpp>
#include <allot/validation/judgement.hpp>
#include <allot/validation/validation_error.hpp>
#include <allot/validation/validation_event.hpp>
#include <allot/validation/validation_member.hpp>
#include <allot/validation/validation_parameters.hpp>

namespace allot { inline namespace v0 {

/// The life of three tasks that check each other, as a value: it takes commands with their times and returns events.
///
/// The tasks of a *declared* group are known from the start. Submit them with `TaskSpec::group`; the dispatcher keeps
/// them apart. The group is judged when its last member has ended.
///
/// *Hidden* tasks look like any others, so that a node cannot know that it is checked. Each begins as a group of its
/// own. After its end the creator either accepts it alone, which is refused for a sampled task, or reveals its group.
/// The creator then adds the other two, one by one, as they end; the third member triggers the verdict. An addition
/// that shares a node or an operator with the group is refused, because it would prove nothing. The creator may submit
/// another in its place.
///
/// With `referee_window` a majority blames no node: if results differ, the group asks a referee to do the work again
/// (`RefereeAsked`, `recomputed`). Without an answer in time the majority's result counts, and no node is blamed.
///
/// Feed the group from the dispatcher's events: `TaskStarted` as `started`, `TaskQueued` as `queued`, `TaskTimedOut` as
/// `timed_out`, other ends without an answer as `aborted`. The leases of members that answered stay open until an event
/// of the group ends them. Fees follow the group's events, not the dispatcher's, because the dispatcher treats each
/// task alone.
///
/// Every command first applies the deadlines that have passed. So a late command is refused with `member_ended`,
/// `not_awaited` or `upload_unasked`. Every command may be refused with `time_went_back` or `time_too_late`.
/// @complexity of each function: linear in the length of the results, else constant.
class ValidationGroup {
public:
    using Member = ValidationMember;

    /// Makes a group of three tasks.
    ///
    /// Errors: `parameter_invalid`, `group_size_wrong`, `id_invalid`, `member_duplicate`, `owner_differs`,
    /// `fee_differs`, `amount_overflow`, `work_missing`, `work_differs`.
    [[nodiscard]] static auto declared(GroupId group, std::span<const ValidationTask> tasks,
                                       const ValidationParameters& parameters)
        -> Result<ValidationGroup, ValidationError> {
        if (tasks.size() != group_size) { return FailureOf<ValidationError>{ValidationError::group_size_wrong}; }
        if (group.is_null()) { return FailureOf<ValidationError>{ValidationError::id_invalid}; }
        return made(tasks, group, std::nullopt, parameters);
    }

    /// Makes a group of one hidden task, submitted under `commitment`. Errors: as `declared`.
    [[nodiscard]] static auto hidden(const ValidationTask& task, const Hash256& commitment,
                                     const ValidationParameters& parameters)
        -> Result<ValidationGroup, ValidationError> {
        return made(std::span{&task, 1}, std::nullopt, commitment, parameters);
    }

    // ---- commands about members -------------------------------------------------------------------------------------

    /// A member runs. The same node again means that its lease was renewed; another node means a fresh start there.
    /// Errors: `member_unknown`, `member_ended`, `id_invalid`, `node_shared`, `operator_shared`, `class_differs`.
    auto started(const TaskId& task, const Placement& placement, TimePoint now) -> ValidationEffects {
        return for_member(task, now, [&](Member& member, auto&) -> MaybeError {
            if (ended(member.state)) { return ValidationError::member_ended; }
            if (placement.node.is_null() || placement.operator_id.is_null()) { return ValidationError::id_invalid; }
            for (const auto& other : members_) {
                if (&other == &member || !other.placement) { continue; }
                if (const auto error = conflict(*other.placement, placement, parameters_.same_class)) { return error; }
            }
            const auto renewed = member.placement && member.placement->node == placement.node;
            if (!renewed) { member.started_at = now; }
            member.placement = placement;
            member.state = MemberState::running;
            return std::nullopt;
        });
    }

    /// A member waits: its node declined, or failed and the terms try again. That node is no member any more, so it may
    /// run another task of the group, and no deadline of its lease counts. A member that waits already stays as it is.
    /// Errors: `member_unknown`, `member_ended`.
    auto queued(const TaskId& task, TimePoint now) -> ValidationEffects {
        return for_member(task, now, [&](Member& member, auto&) -> MaybeError {
            if (ended(member.state)) { return ValidationError::member_ended; }
            member.state = MemberState::waiting;
            member.placement.reset();
            return std::nullopt;
        });
    }

    /// A member's node submits its result, or bytes to compare in its place.
    /// Errors: `member_unknown`, `member_ended` (also if too late), `member_not_running`, `result_empty`,
    /// `result_too_long`.
    auto submitted(const TaskId& task, std::span<const std::uint8_t> result, TimePoint now) -> ValidationEffects {
        return for_member(task, now, [&](Member& member, auto& effects) -> MaybeError {
            if (const auto error = not_running(member)) { return error; }
            if (result.empty()) { return ValidationError::result_empty; }
            if (result.size() > parameters_.result_bytes_max) { return ValidationError::result_too_long; }
            member.result.assign(result.begin(), result.end());
            end(member, MemberState::submitted, effects);
            return std::nullopt;
        });
    }

    /// A member's node reports that the task cannot be done. Errors: as `submitted`.
    auto error_reported(const TaskId& task, TimePoint now) -> ValidationEffects {
        return for_member(task, now, [&](Member& member, auto& effects) -> MaybeError {
            if (const auto error = not_running(member)) { return error; }
            end(member, MemberState::error_reported, effects);
            return std::nullopt;
        });
    }

    /// A member passed its deadline, in the queue or on its node. Errors: `member_unknown`, `member_ended`.
    auto timed_out(const TaskId& task, TimePoint now) -> ValidationEffects {
        return lost(task, MemberState::timed_out, now);
    }
    /// A member ended without an answer for another reason. Errors: as `timed_out`.
    auto aborted(const TaskId& task, TimePoint now) -> ValidationEffects {
        return lost(task, MemberState::aborted, now);
    }

    /// The result that counts was uploaded. Errors: `member_unknown`, `upload_unasked`.
    auto uploaded(const TaskId& task, TimePoint now) -> ValidationEffects {
        return for_member(task, now, [&](Member& member, auto& effects) -> MaybeError {
            if (phase_ != ValidationPhase::uploading || &member != &members_[representative_]) {
                return ValidationError::upload_unasked;
            }
            effects.push(validation_event::MemberCompleted{task, member.placement->node});
            effects.push(validation_event::FeeDue{task, member.task.fee, shares_});
            finish(ValidationEnd::passed, effects);
            return std::nullopt;
        });
    }

    /// The referee did the work again: its result decides which members were right. The embedder answers for the
    /// referee, as a vote cannot name the liars: two of three members may be the ones.
    /// Errors: `recomputation_unasked` (also if too late), `result_empty`, `result_too_long`.
    auto recomputed(std::span<const std::uint8_t> result, TimePoint now) -> ValidationEffects {
        return command(now, [&](auto& effects) -> MaybeError {
            if (phase_ != ValidationPhase::awaiting_referee) { return ValidationError::recomputation_unasked; }
            if (result.empty()) { return ValidationError::result_empty; }
            if (result.size() > parameters_.result_bytes_max) { return ValidationError::result_too_long; }
            declare(judge(answers(), parameters_, result), effects);
            return std::nullopt;
        });
    }

    // ---- commands of a hidden task's creator ------------------------------------------------------------------------

    /// The creator accepts a task that is not sampled.
    /// @param vrf The entropy of the sampling, proven by the creator and checked by the embedder.
    /// Errors: `not_hidden`, `not_awaited`, `already_revealed`, `task_sampled`, `nothing_submitted`.
    auto accepted(const Entropy& vrf, TimePoint now) -> ValidationEffects {
        return command(now, [&](auto& effects) -> MaybeError {
            if (const auto error = not_alone()) { return error; }
            const auto& member = members_.front();
            if (sampled(vrf, member.task.task, parameters_.sampling)) { return ValidationError::task_sampled; }
            if (!answered(member.state)) { return ValidationError::nothing_submitted; }
            const auto& [task, owner, fee, work] = member.task;
            if (member.state == MemberState::submitted) {
                await_upload({{task, member.placement->node, 1}}, effects);
            } else {
                effects.push(validation_event::MemberUndecided{task, member.placement->node, fee});
                finish(ValidationEnd::error_agreed, effects);
            }
            return std::nullopt;
        });
    }

    /// The creator reveals the group of a sampled task.
    /// @param commit Computes the commitment of an opening and the task's work.
    /// Errors: `not_hidden`, `not_awaited`, `already_revealed`, `task_not_sampled`, `opening_wrong`.
    template <class Commit = CommitmentOf>
    auto revealed(const Opening& opening, const Entropy& vrf, TimePoint now, Commit commit = {}) -> ValidationEffects {
        return command(now, [&](auto&) -> MaybeError {
            if (const auto error = not_alone()) { return error; }
            if (!sampled(vrf, members_.front().task.task, parameters_.sampling)) {
                return ValidationError::task_not_sampled;
            }
            if (opening.group.is_null() || commit(opening, members_.front().task.work) != *commitment_) {
                return ValidationError::opening_wrong;
            }
            group_ = opening.group;
            due_at_ = now + parameters_.creator_window;
            return std::nullopt;
        });
    }

    /// The creator adds another hidden task to the revealed group. The third member triggers the verdict; before that,
    /// `creator_window` starts again. Drop `other` afterwards, because its task now belongs to this group.
    /// @param commit Computes the commitment of an opening and the task's work.
    /// Errors: `not_hidden`, `not_revealed`, `not_awaited` (of either, or if too late for the other),
    /// `already_revealed`, `opening_wrong`, `owner_differs`, `fee_differs`, `work_differs`, `parameters_differ`,
    /// `member_duplicate`, `node_shared`, `operator_shared`, `class_differs`.
    template <class Commit = CommitmentOf>
    auto added(const ValidationGroup& other, const Opening& opening, TimePoint now, Commit commit = {})
        -> ValidationEffects {
        return command(now, [&](auto& effects) -> MaybeError {
            if (!commitment_ || !group_) {
                return commitment_ ? ValidationError::not_revealed : ValidationError::not_hidden;
            }
            if (phase_ != ValidationPhase::awaiting_creator) { return ValidationError::not_awaited; }
            if (const auto error = other.not_alone()) { return error; }
            if (now < other.now_) { return ValidationError::time_went_back; }
            if (now >= other.due_at_) { return ValidationError::not_awaited; }
            const auto& newcomer = other.members_.front();
            if (opening.group != *group_ || commit(opening, newcomer.task.work) != *other.commitment_) {
                return ValidationError::opening_wrong;
            }
            if (const auto error = fault_of(newcomer.task, members_.front().task)) { return error; }
            if (other.parameters_ != parameters_) { return ValidationError::parameters_differ; }
            for (const auto& member : members_) {
                if (member.task.task == newcomer.task.task) { return ValidationError::member_duplicate; }
                if (!member.placement || !newcomer.placement) { continue; }
                if (const auto error = conflict(*member.placement, *newcomer.placement, parameters_.same_class)) {
                    return error;
                }
            }
            members_.push_back(newcomer);
            due_at_ = now + parameters_.creator_window;
            if (members_.size() == group_size) { pronounce(effects); }
            return std::nullopt;
        });
    }

    // ---- time -----------------------------------------------------------------------------------------------------

    /// Lets time pass to `now` and applies passed deadlines at `now`, in order of deadlines, ties by task id.
    auto advance(TimePoint now) -> ValidationEffects {
        return command(now, [](auto&) -> MaybeError { return std::nullopt; });
    }

    /// Returns the earliest deadline, if any. A deadline has passed if now >= deadline.
    [[nodiscard]] auto next_deadline() const noexcept -> std::optional<TimePoint> {
        auto first = due_at_;
        for (const auto& member : members_) { first = std::min(first, member.deadline()); }
        return first == never ? std::nullopt : std::optional{first};
    }

    // ---- reading ----------------------------------------------------------------------------------------------------

    /// The group's phase.
    [[nodiscard]] auto phase() const noexcept -> ValidationPhase { return phase_; }
    /// The group's id; none while it is hidden.
    [[nodiscard]] auto group() const noexcept -> const std::optional<GroupId>& { return group_; }
    /// The members, in the order of their submission or addition.
    [[nodiscard]] auto members() const noexcept -> const std::vector<Member>& { return members_; }
    /// The parameters, which never change.
    [[nodiscard]] auto parameters() const noexcept -> const ValidationParameters& { return parameters_; }
    /// The time of the last command.
    [[nodiscard]] auto now() const noexcept -> TimePoint { return now_; }

    friend auto operator==(const ValidationGroup&, const ValidationGroup&) -> bool = default;

private:
    using MaybeError = std::optional<ValidationError>;

    ValidationGroup(std::optional<GroupId> group, const std::optional<Hash256>& commitment,
                    const ValidationParameters& parameters)
        : group_{group}, commitment_{commitment}, parameters_{parameters} {}

    static auto made(std::span<const ValidationTask> tasks, std::optional<GroupId> group,
                     const std::optional<Hash256>& commitment, const ValidationParameters& parameters)
        -> Result<ValidationGroup, ValidationError> {
        if (!parameters.valid()) { return FailureOf<ValidationError>{ValidationError::parameter_invalid}; }
        auto made = ValidationGroup{group, commitment, parameters};
        for (const auto& task : tasks) {
            if (const auto error = fault_of(task, tasks.front())) { return FailureOf<ValidationError>{*error}; }
            if (made.find(task.task) != nullptr) {
                return FailureOf<ValidationError>{ValidationError::member_duplicate};
            }
            made.members_.push_back({task});
        }
        return made;
    }

    /// Runs a command: checks the time, applies passed deadlines, then calls `f`. Returns the effects of both.
    template <class F>
    auto command(TimePoint now, F&& f) -> ValidationEffects {
        auto effects = ValidationEffects{};
        if (now < now_) {
            effects.error = ValidationError::time_went_back;
        } else if (now > time_point_max) {
            effects.error = ValidationError::time_too_late;
        } else {
            now_ = now;
            settle(effects);
            effects.error = f(effects);
        }
        return effects;
    }

    template <class F>
    auto for_member(const TaskId& task, TimePoint now, F&& f) -> ValidationEffects {
        return command(now, [&](auto& effects) -> MaybeError {
            auto* member = find(task);
            if (member == nullptr) { return ValidationError::member_unknown; }
            return f(*member, effects);
        });
    }

    auto lost(const TaskId& task, MemberState how, TimePoint now) -> ValidationEffects {
        return for_member(task, now, [&](Member& member, auto& effects) -> MaybeError {
            if (ended(member.state)) { return ValidationError::member_ended; }
            end(member, how, effects);
            return std::nullopt;
        });
    }

    [[nodiscard]] auto find(const TaskId& task) noexcept -> Member* {
        const auto found = std::find_if(members_.begin(), members_.end(),
                                        [&](const Member& member) { return member.task.task == task; });
        return found == members_.end() ? nullptr : &*found;
    }

    [[nodiscard]] static auto not_running(const Member& member) noexcept -> MaybeError {
        if (ended(member.state)) { return ValidationError::member_ended; }
        return member.state == MemberState::running ? MaybeError{} : ValidationError::member_not_running;
    }

    /// The reason why the creator cannot decide on this hidden task alone; none if they can.
    [[nodiscard]] auto not_alone() const noexcept -> MaybeError {
        if (!commitment_) { return ValidationError::not_hidden; }
        if (phase_ != ValidationPhase::awaiting_creator) { return ValidationError::not_awaited; }
        return group_ ? ValidationError::already_revealed : MaybeError{};
    }

    void settle(ValidationEffects& effects) {
        while (phase_ == ValidationPhase::running) {
            auto due = std::min_element(members_.begin(), members_.end(), [](const Member& a, const Member& b) {
                return std::tuple{a.deadline(), a.task.task} < std::tuple{b.deadline(), b.task.task};
            });
            if (now_ < due->deadline()) { return; }
            end(*due, MemberState::timed_out, effects);
        }
        if (now_ < due_at_) { return; }
        if (phase_ == ValidationPhase::uploading) {
            const auto& member = members_[representative_];
            effects.push(validation_event::UploadMissed{member.task.task, member.placement->node, member.task.fee});
            finish(ValidationEnd::upload_timed_out, effects);
            return;
        }
        if (phase_ == ValidationPhase::awaiting_referee) {
            declare(unnamed(judge(answers(), parameters_)), effects);
            return;
        }
        auto end = ValidationEnd::too_few;
        for (const auto& member : members_) {
            if (!answered(member.state)) { continue; }
            const auto& task = member.task.task;
            const auto& node = member.placement->node;
            if (member.state == MemberState::submitted || parameters_.pay_unheard_errors) {
                effects.push(validation_event::MemberCompleted{task, node});
                effects.push(validation_event::FeeDue{task, member.task.fee, {{task, node, 1}}});
            } else {  // as after an accepted error report
                effects.push(validation_event::MemberUndecided{task, node, member.task.fee});
            }
            end = ValidationEnd::creator_timed_out;
        }
        finish(end, effects);
    }

    void end(Member& member, MemberState how, ValidationEffects& effects) {
        member.state = how;
        member.ended_at = now_;
        const auto& [task, owner, fee, work] = member.task;
        if (how == MemberState::timed_out) {
            const auto node = member.placement ? std::optional{member.placement->node} : std::nullopt;
            effects.push(validation_event::MemberTimedOut{task, node, fee});
        } else if (how == MemberState::aborted) {
            effects.push(validation_event::MemberAborted{task, fee});
        }
        if (std::any_of(members_.begin(), members_.end(), [](const Member& m) { return !ended(m.state); })) { return; }
        if (commitment_) {
            phase_ = ValidationPhase::awaiting_creator;
            due_at_ = now_ + parameters_.creator_window;
        } else {
            pronounce(effects);
        }
    }

    [[nodiscard]] auto answers() const noexcept -> std::array<MemberAnswer, group_size> {
        return {members_[0].answer(), members_[1].answer(), members_[2].answer()};
    }

    /// Judges the three members, or asks the referee if results differ.
    void pronounce(ValidationEffects& effects) {
        const auto judgement = judge(answers(), parameters_);
        if (parameters_.referee_window > Duration{0} && disputed(answers(), judgement)) {
            phase_ = ValidationPhase::awaiting_referee;
            due_at_ = now_ + parameters_.referee_window;
            effects.push(validation_event::RefereeAsked{members_.front().task.work, due_at_});
            return;
        }
        declare(parameters_.referee_window > Duration{0} ? unnamed(judgement) : judgement, effects);
    }

    /// Emits the consequences of a judgement.
    void declare(const Judgement& judgement, ValidationEffects& effects) {
        auto shares = std::vector<FeeShare>{};
        for (std::uint32_t rank = 0; rank < group_size; ++rank) {
            for (std::size_t i = 0; i < group_size; ++i) {
                if (judgement.ranks[i] == rank) { say(i, judgement, shares, effects); }
            }
        }
        for (std::size_t i = 0; i < group_size; ++i) {
            if (judgement.points[i] && members_[i].placement) {
                const auto& member = members_[i];
                effects.push(
                    validation_event::NodeScored{member.task.task, member.placement->node, *judgement.points[i]});
            }
        }
        switch (judgement.agreement) {
            case Agreement::result: await_upload(std::move(shares), effects); break;
            case Agreement::error: finish(ValidationEnd::error_agreed, effects); break;
            case Agreement::none: finish(ValidationEnd::no_agreement, effects); break;
            case Agreement::too_few: finish(ValidationEnd::too_few, effects); break;
        }
    }

    void say(std::size_t i, const Judgement& judgement, std::vector<FeeShare>& shares, ValidationEffects& effects) {
        const auto& [task, owner, fee, work] = members_[i].task;
        const auto& node = members_[i].placement->node;
        switch (judgement.verdicts[i]) {
            case MemberVerdict::passed: representative_ = i; break;  // its event follows with the request to upload
            case MemberVerdict::matched: effects.push(validation_event::MemberMatched{task, node, fee}); break;
            case MemberVerdict::wrong:
                effects.push(validation_event::MemberWrong{task, node, fee, slashes(members_[i])});
                return;
            case MemberVerdict::undecided: effects.push(validation_event::MemberUndecided{task, node, fee}); return;
            case MemberVerdict::none: return;
        }
        shares.push_back({task, node, *judgement.points[i]});
    }

    /// True if a wrong answer forfeits the stake. An error report may be honest: hardware differs in its abilities.
    [[nodiscard]] auto slashes(const Member& wrong) const noexcept -> bool {
        return parameters_.slash_wrong && (wrong.state == MemberState::submitted || parameters_.slash_across_errors);
    }

    void await_upload(std::vector<FeeShare>&& shares, ValidationEffects& effects) {
        shares_ = std::move(shares);
        phase_ = ValidationPhase::uploading;
        due_at_ = now_ + parameters_.upload_window;
        const auto& member = members_[representative_];
        effects.push(validation_event::MemberPassed{member.task.task, member.placement->node, due_at_});
    }

    void finish(ValidationEnd end, ValidationEffects& effects) {
        phase_ = ValidationPhase::ended;
        due_at_ = never;
        effects.push(validation_event::GroupEnded{end});
    }

    std::optional<GroupId> group_;
    std::optional<Hash256> commitment_;
    ValidationParameters parameters_;
    std::vector<Member> members_{};
    ValidationPhase phase_ = ValidationPhase::running;
    TimePoint now_{};
    TimePoint due_at_ = never;        ///< Deadline of the creator, the referee or the upload.
    std::size_t representative_ = 0;  ///< Index of the member with the result that counts, once decided.
    std::vector<FeeShare> shares_{};  ///< Shares of that member's fee, in order of rank.
};

}}  // namespace allot::v0
