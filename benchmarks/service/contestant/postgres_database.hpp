#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>

namespace bench {

/// One connection to PostgreSQL. A transaction is sent as a pipeline: its statements do not wait for each other's
/// answers, only its end does.
class PostgresDatabase {
    struct Close {
        void operator()(PGconn* connection) const { PQfinish(connection); }
        void operator()(PGresult* result) const { PQclear(result); }
    };
    using Result = std::unique_ptr<PGresult, Close>;

public:
    using Statement = std::string;

    explicit PostgresDatabase(const std::string& where) : connection_{PQconnectdb(where.c_str())} {
        check(PQstatus(connection_.get()) == CONNECTION_OK);
        begin_ = prepare("BEGIN");
        commit_ = prepare("COMMIT");
    }

    void run(const std::string& sql) {
        const auto result = Result{PQexec(connection_.get(), sql.c_str())};
        check(PQresultStatus(result.get()) == PGRES_COMMAND_OK);
    }
    auto prepare(const char* sql) -> Statement {
        auto name = "s" + std::to_string(++statements_);
        const auto result = Result{PQprepare(connection_.get(), name.c_str(), sql, 0, nullptr)};
        check(PQresultStatus(result.get()) == PGRES_COMMAND_OK);
        return name;
    }
    void begin() {
        check(PQenterPipelineMode(connection_.get()) == 1);
        give(begin_, {});
    }
    void add(const Statement& statement, std::initializer_list<std::string> parameters) { give(statement, parameters); }
    void commit() {
        give(commit_, {});
        check(PQpipelineSync(connection_.get()) == 1);
        for (auto left = given_; left > 0; --left) {
            const auto result = Result{PQgetResult(connection_.get())};
            check(PQresultStatus(result.get()) == PGRES_COMMAND_OK);
            const auto changed = std::string_view{PQcmdTuples(result.get())};
            if (!changed.empty() && changed != "1") {
                throw std::runtime_error{"PostgreSQL: a statement changed no row"};
            }
            check(PQgetResult(connection_.get()) == nullptr);  // the end of this statement
        }
        given_ = 0;
        const auto end = Result{PQgetResult(connection_.get())};
        check(PQresultStatus(end.get()) == PGRES_PIPELINE_SYNC);
        check(PQexitPipelineMode(connection_.get()) == 1);
    }

private:
    void give(const Statement& statement, std::initializer_list<std::string> parameters) {
        auto texts = std::vector<const char*>{};
        for (const auto& one : parameters) { texts.push_back(one.c_str()); }
        check(PQsendQueryPrepared(connection_.get(), statement.c_str(), static_cast<int>(texts.size()), texts.data(),
                                  nullptr, nullptr, 0) == 1);
        ++given_;
    }
    void check(bool is_fine) const {
        if (!is_fine) { throw std::runtime_error{std::string{"PostgreSQL: "} + PQerrorMessage(connection_.get())}; }
    }

    std::unique_ptr<PGconn, Close> connection_;
    Statement begin_{};
    Statement commit_{};
    std::size_t statements_ = 0;
    std::size_t given_ = 0;
};

}  // namespace bench
