#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <sqlite3.h>

#include <allot/policy/task_queue.hpp>

#include "workload/waiting.hpp"

namespace bench {

/// A table of tasks with `ORDER BY value DESC, id LIMIT 1`, as a relay keeps them: in memory, one transaction, prepared
/// statements, an index on (value, id). It walks down by value until a task fits.
class SqliteQueue {
public:
    SqliteQueue() {
        auto* database = static_cast<sqlite3*>(nullptr);
        check(sqlite3_open(":memory:", &database));
        database_.reset(database);
        run("CREATE TABLE tasks (handle INTEGER PRIMARY KEY, vram INTEGER, card INTEGER, value REAL, id INTEGER)");
        run("CREATE UNIQUE INDEX by_value ON tasks (value DESC, id)");
        run("BEGIN");
        push_ = prepare("INSERT INTO tasks VALUES (?, ?, ?, ?, ?)");
        erase_ = prepare("DELETE FROM tasks WHERE handle = ?");
        best_ = prepare(
            "SELECT handle FROM tasks WHERE vram <= ? AND (card = 16 OR card = ?) ORDER BY value DESC, id LIMIT 1");
        worst_ = prepare("SELECT handle FROM tasks ORDER BY value ASC, id DESC LIMIT 1");
    }

    void push(const allot::QueueEntry& entry) {
        const auto group = entry.group.value;
        bind(push_, 1, entry.task.value);
        bind(push_, 2, group / (cards + 1));
        bind(push_, 3, group % (cards + 1));
        check(sqlite3_bind_double(
            push_.get(), 4, static_cast<double>(entry.value.num().low()) / static_cast<double>(entry.value.den())));
        bind(push_, 5, static_cast<std::int64_t>(entry.sequence));
        (void)first(push_);
    }
    void erase(const allot::QueueEntry& entry) {
        bind(erase_, 1, entry.task.value);
        (void)first(erase_);
    }
    auto best(std::uint32_t row, std::uint32_t card) -> std::optional<std::uint32_t> {
        bind(best_, 1, row);
        bind(best_, 2, card);
        return first(best_);
    }
    auto worst() -> std::optional<std::uint32_t> { return first(worst_); }

private:
    struct Close {
        void operator()(sqlite3* database) const { sqlite3_close(database); }
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    using Statement = std::unique_ptr<sqlite3_stmt, Close>;

    static void check(int result) {
        if (result != SQLITE_OK) { throw std::runtime_error{std::string{"SQLite: "} + sqlite3_errstr(result)}; }
    }
    static void bind(Statement& statement, int place, std::int64_t value) {
        check(sqlite3_bind_int64(statement.get(), place, value));
    }
    void run(const char* text) { check(sqlite3_exec(database_.get(), text, nullptr, nullptr, nullptr)); }
    auto prepare(const char* text) -> Statement {
        auto* statement = static_cast<sqlite3_stmt*>(nullptr);
        check(sqlite3_prepare_v2(database_.get(), text, -1, &statement, nullptr));
        return Statement{statement};
    }
    static auto first(Statement& statement) -> std::optional<std::uint32_t> {
        auto found = std::optional<std::uint32_t>{};
        if (sqlite3_step(statement.get()) == SQLITE_ROW) {
            found = static_cast<std::uint32_t>(sqlite3_column_int64(statement.get(), 0));
        }
        check(sqlite3_reset(statement.get()));
        return found;
    }

    std::unique_ptr<sqlite3, Close> database_;
    Statement push_;
    Statement erase_;
    Statement best_;
    Statement worst_;
};

}  // namespace bench
