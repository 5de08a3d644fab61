#pragma once

#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>

#include <sqlite3.h>

namespace bench {

/// SQLite on a file, whose commits wait for the device: WAL and synchronous=FULL. One thread writes.
class SqliteDatabase {
    struct Close {
        void operator()(sqlite3* database) const { sqlite3_close(database); }
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };

public:
    using Statement = std::unique_ptr<sqlite3_stmt, Close>;

    explicit SqliteDatabase(const std::string& path) {
        auto* database = static_cast<sqlite3*>(nullptr);
        check(sqlite3_open(path.c_str(), &database));
        database_.reset(database);
        run("PRAGMA journal_mode = WAL");
        run("PRAGMA synchronous = FULL");
    }

    void run(const std::string& sql) { check(sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr)); }
    auto prepare(const char* sql) -> Statement {
        auto* statement = static_cast<sqlite3_stmt*>(nullptr);
        check(sqlite3_prepare_v2(database_.get(), sql, -1, &statement, nullptr));
        return Statement{statement};
    }
    void begin() { run("BEGIN IMMEDIATE"); }
    void add(Statement& statement, std::initializer_list<std::string> parameters) {
        auto place = 0;
        for (const auto& one : parameters) {
            check(sqlite3_bind_text(statement.get(), ++place, one.data(), static_cast<int>(one.size()), SQLITE_STATIC));
        }
        const auto result = sqlite3_step(statement.get());
        if (result != SQLITE_DONE || sqlite3_changes(database_.get()) != 1) {
            throw std::runtime_error{"SQLite: a statement changed no row"};
        }
        check(sqlite3_reset(statement.get()));
    }
    void commit() { run("COMMIT"); }

private:
    void check(int result) const {
        if (result != SQLITE_OK) {
            throw std::runtime_error{std::string{"SQLite: "} + sqlite3_errmsg(database_.get())};
        }
    }

    std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace bench
