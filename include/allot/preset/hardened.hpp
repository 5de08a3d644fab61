#pragma once

#include <tuple>

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/eligibility/all_of.hpp>
#include <allot/eligibility/collateral.hpp>
#include <allot/eligibility/probation.hpp>
#include <allot/placement/bounded_requests.hpp>
#include <allot/qos/resting.hpp>
#include <allot/queue/share_queue.hpp>
#include <allot/terms/bounded_renewals.hpp>
#include <allot/terms/by_evidence.hpp>
#include <allot/terms/draw_delay.hpp>
#include <allot/terms/priced.hpp>
#include <allot/valuation/fee_per_reserved_second.hpp>
#include <allot/weight/linear_weight.hpp>

namespace allot { inline namespace v0 { namespace preset {

/// Seed 001 in a network of untrusted parties that lie, split their stakes and flood the queue. Each row is a parameter
/// that may be set alone; all are off elsewhere.
///
/// | attack                            | `CrynuxSingle`                | here                                         |
/// | --------------------------------- | ----------------------------- | -------------------------------------------- |
/// | one stake split over k nodes      | weighs √k as much             | weighs the same; a node counts up to a cap   |
/// | one outlier's stake               | flattens all other scores     | changes no other weight                      |
/// | a lone node claims a model        | gets every task that wants it | three of weight must, or all are candidates  |
/// | one node outweighs all others     | gets nearly every task        | counts as the cap: as much as others can be  |
/// | tasks that no node can run        | evict those that can run      | are refused                                  |
/// | tasks that few nodes can run      | evict those of all others     | three for each of these nodes wait, at most  |
/// | one owner floods                  | takes the whole queue         | has 64 unfinished tasks at most              |
/// | an owner declares a millisecond   | goes before all others        | gains nothing; the lease's length counts     |
/// | a token more                      | evicts the worst that waits   | does not; an eighth more does                |
/// | a stream of tasks of high value   | starves the others            | waiting doubles a value every two hours      |
/// | a node fails a task               | the task ends                 | it restarts elsewhere, until three failed it |
/// | a task that fails on every node   | each of them is blamed        | none is: no node has finished it             |
/// | a node fails tasks under any name | timeouts alone are blamed     | is blamed once another has finished the task |
/// | new identities                    | score a half                  | score an eighth until 8 verdicts were good   |
/// | owners praise their own nodes     | these weigh twice as much     | weigh as much as ordinary ones               |
/// | a bad node leaves and joins again | is lifted to a score of 0.3   | scores an eighth, on probation again         |
/// | a new node fails all its tasks    | gets all the next ones        | rests each time, and is out after 3 verdicts |
/// | a node declines all but dear tasks | loses nothing                | rests as long as the task would have taken   |
/// | an owner withdraws its tasks in time | costs it nothing           | a part of the fee: all in a full queue       |
/// | a task that fails on every node   | costs its owner nothing       | pays for each lease, with `paid` set         |
/// | and is withdrawn before that      | costs its owner nothing       | pays for each lease, too                     |
/// | a node resumes for a dear task    | gets it at once               | rests for a minute first                     |
/// | a node renews and does not finish | keeps the task for 8 hours    | keeps it for twice its lease                 |
/// | a task names 64 made-up models    | 640 copies are asked for | 32 are, at most |
/// | nodes fetch made-up models        | they stay in the state | go in a day, unless reported again |
/// | a stake moves to the next free node | counts there at once          | counts when it has stayed for an hour |
/// | a node of stake 1 lies about its result | is paid as others are | gets no task, with `stake_per_fee` set |
/// | a node leaves before it is found out | keeps its stake | can lose it for a day yet |
/// | a node proves itself on a cheap card | is as good on a dear one | is on probation again there |
///
/// Judge validation groups with `ValidationParameters::hardened()`: there a majority blames no node, and a referee does
/// the work again where results differ.
///
/// Draw in rounds: name the rounds of your beacon (`DrawDelay`), and call `match` after each of them. Then a task is
/// drawn with entropy that comes after its submission, and with no other. Without them, an owner that knows the entropy
/// of its submission tries ids until one of its own nodes is drawn, as under every preset.
///
/// Its limits:
/// - The cap is by node. An operator that splits a larger stake over more nodes regains a weight in proportion to it,
///   never more. There is no cap by operator and no random draw among several nodes: each would pay one that hides
///   behind names, or dust next to two large nodes (`docs/rules.md`, rule 39).
/// - Nodes that lie together still narrow to themselves, if they are three and weigh as much as three at the cap.
/// - Praise from an owner's own tasks still ends a probation.
/// - A node of hardware that no other node has makes tasks for that hardware admissible.
/// - A node that fails a task is blamed when another has finished it, which may be minutes later.
/// - Three nodes that fail one task make its owner forfeit the fee, or the cost of three leases. None of them
///   earns it.
/// - Tasks of one round compete for the queue before they are drawn. A place in a full queue costs the fee of the task
///   that takes it, however dear the task was that it displaced: short tasks displace long ones for little.
/// - The embedder vouches for the owner of a task.
class Hardened {
public:
    using role = role::preset;

    /// @param stake_cap The stake of a large honest node. There is no default, because the unit of the stakes is the
    /// embedder's.
    /// @param probation_fee_max The largest fee of a task that a node on probation may run.
    /// @param fee_per_second_min The least fee for each second that a task reserves on a node. Without one, a task of a
    /// fee of 1 costs its owner nothing.
    /// @param stake_per_fee The stake that a node needs for each unit of the fee of its task. Without one, a node of
    /// hardly any stake is paid as much as others for a false result.
    /// @param stake_typical With `stake_per_fee`, a stake that most honest nodes have. A fee that it does not cover is
    /// refused, so all are if it is left out.
    /// @param rounds The rounds of the beacon, with entropy of which tasks are drawn. Without them each command draws.
    /// @param paid The part of a fee that is paid for success. The rest comes back then, and pays for leases that end
    /// in vain: with 1/18, three of them in a full queue. Fees are 18 times as high then, and so are
    /// `probation_fee_max`, `fee_per_second_min`, and the fees that `stake_per_fee` covers. With 1, an owner whose task
    /// fails on three nodes pays for one.
    constexpr explicit Hardened(Amount stake_cap, Amount probation_fee_max = ProbationParameters{}.fee_max,
                                Amount fee_per_second_min = {}, Ratio stake_per_fee = 0, Amount stake_typical = {},
                                const DrawDelayParameters& rounds = {}, Ratio paid = 1)
        : weight_{{.stake_cap = stake_cap, .holder_caps = 1, .score_cap = score_cap}},
          probation_{{.fee_max = probation_fee_max}},
          collateral_{
              {.stake_per_fee = stake_per_fee, .stake_max = stake_per_fee.num == 0 ? stake_cap : stake_typical}},
          price_{{.fee_per_second_min = fee_per_second_min, .paid = paid, .vain_full = 6}}, delay_{rounds} {}

    [[nodiscard]] auto policies() const {
        return std::tuple{
            Rules{{.narrow_from = 3,
                   .refuse_unrunnable = true,
                   .tasks_per_owner_max = 64,
                   .outbid_by = {9, 8},
                   .value_doubles_in = std::chrono::hours{2}}},
            AllOf{HardwareFit{}, probation_, collateral_},
            weight_,
            GpuGroupPool{},
            ShareQueue{},
            Resting{RollingQos{{.proven_from = 8,
                                .score_unproven = Score::from_ratio(1, 8),
                                .penalty_failure = Score::from_ratio(7, 10)}},
                    Rest{{.score_cap = score_cap}}},
            FeePerReservedSecond{},
            BoundedRequests{ThresholdPlacement{}},
            Delayed{Priced{ByEvidence{BoundedRenewals{FixedTerms{{.after_timeout = Next::retry_elsewhere,
                                                                  .after_failure = Next::retry_elsewhere,
                                                                  .attempts_max = 16,
                                                                  .strikes_max = 3,
                                                                  .blamed_max = 1}}}},
                           price_},
                    delay_},
        };
    }

private:
    static constexpr auto score_cap = Score::from_ratio(1, 2);

    LinearWeight weight_;
    Probation probation_;
    Collateral collateral_;
    Price price_;
    DrawDelay delay_;
};

}}}  // namespace allot::v0::preset
