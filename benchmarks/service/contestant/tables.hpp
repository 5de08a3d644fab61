#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "decisions.hpp"

namespace bench {

/// The service's state as tables, as a relay on SQL keeps it: sessions with their last answer, nodes, tasks, leases;
/// tasks by id and in the order of the queue, leases by task, node and deadline. A request is one transaction.
///
/// `Database` has `run(sql)`, `prepare(sql)`, and `begin`, `add(statement, parameters)`, `commit`, where each statement
/// has to change exactly one row: so a request out of order or a stale lease fails, as in the service.
template <class Database>
class Tables {
public:
    static void create(Database& database, std::int64_t clients, std::int64_t nodes_each, std::int64_t apart) {
        for (const auto* sql :
             {"CREATE TABLE sessions (id BIGINT PRIMARY KEY, seq BIGINT, answer TEXT)",
              "CREATE TABLE nodes (id BIGINT PRIMARY KEY, gpu TEXT, vram INT, stake BIGINT, tasks BIGINT, state INT)",
              "CREATE TABLE tasks (id BIGINT PRIMARY KEY, owner BIGINT, vram_min INT, fee BIGINT, duration BIGINT, "
              "state INT)",
              "CREATE INDEX queue ON tasks (vram_min, fee, id) WHERE state = 0",
              "CREATE TABLE leases (task BIGINT PRIMARY KEY, node BIGINT UNIQUE, token BIGINT, deadline BIGINT)",
              "CREATE INDEX due ON leases (deadline)"}) {
            database.run(sql);
        }
        database.run("BEGIN");
        for (auto client = std::int64_t{0}; client < clients; ++client) {
            database.run("INSERT INTO sessions VALUES (" + std::to_string(client) + ", 0, '')");
            for (auto i = std::int64_t{0}; i < nodes_each; ++i) {
                database.run("INSERT INTO nodes VALUES (" + std::to_string((client + 1) * apart + i) +
                             ", 'RTX 4090', 24, " + std::to_string(i + 1) + ", 0, 0)");
            }
        }
        database.run("COMMIT");
    }

    explicit Tables(Database& database) : database_{database} {}

    void request(std::int64_t client, std::uint64_t seq, std::span<const Decision> decisions) {
        database_.begin();
        database_.add(session_, {std::to_string(seq), std::string(decisions.size(), '1'), std::to_string(client)});
        for (const auto& decision : decisions) {
            const auto task = std::to_string(decision.task);
            if (decision.is_submit) {
                database_.add(submit_, {task, std::to_string(client), std::to_string(decision.fee)});
            } else {
                database_.add(end_lease_, {task, std::to_string(decision.token)});
                database_.add(end_task_, {task});
                database_.add(end_node_, {std::to_string(decision.node)});
            }
            if (const auto& started = decision.started) {
                const auto node = std::to_string(started->node);
                const auto begun = std::to_string(started->task);
                database_.add(start_lease_,
                              {begun, node, std::to_string(started->token), std::to_string(started->deadline)});
                database_.add(start_task_, {begun});
                database_.add(start_node_, {node});
            }
        }
        database_.commit();
    }

private:
    using Statement = typename Database::Statement;

    Database& database_;
    Statement session_ = database_.prepare("UPDATE sessions SET seq = $1, answer = $2 WHERE id = $3 AND seq = $1 - 1");
    Statement submit_ = database_.prepare("INSERT INTO tasks VALUES ($1, $2, 8, $3, 3600000, 0)");
    Statement start_lease_ = database_.prepare("INSERT INTO leases VALUES ($1, $2, $3, $4)");
    Statement start_task_ = database_.prepare("UPDATE tasks SET state = 1 WHERE id = $1 AND state = 0");
    Statement start_node_ = database_.prepare("UPDATE nodes SET state = 1 WHERE id = $1 AND state = 0");
    Statement end_lease_ = database_.prepare("DELETE FROM leases WHERE task = $1 AND token = $2");
    Statement end_task_ = database_.prepare("UPDATE tasks SET state = 2 WHERE id = $1 AND state = 1");
    Statement end_node_ =
        database_.prepare("UPDATE nodes SET state = 0, tasks = tasks + 1 WHERE id = $1 AND state = 1");
};

}  // namespace bench
