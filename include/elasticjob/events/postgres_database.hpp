// SPDX-License-Identifier: Apache-2.0
/// \file \brief Records runs in PostgreSQL. Needs SOCI: link with soci_core, soci_postgresql and pq.
#ifndef ELASTICJOB_EVENTS_POSTGRES_DATABASE_HPP
#define ELASTICJOB_EVENTS_POSTGRES_DATABASE_HPP

#include <elasticjob/events/event_database.hpp>
#include <elasticjob/events/sql_selection.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace elasticjob {

/// PostgreSQL 9.5 or later. `connection` is a connection string of libpq, `host=db dbname=jobs user=jobs`. Unless it
/// sets other limits, connecting takes at most 5 s, a statement or a broken network at most 10 s, and creating an index
/// of an existing table an hour. A server that stands still while its network works is waited for without a limit. A
/// URI is used unchanged, without these limits. If the tables and indexes exist, the user needs no right but SELECT,
/// INSERT, UPDATE, and DELETE for the removal of old rows. Threads: one at a time.
class PostgresDatabase {
public:
    explicit PostgresDatabase(std::string connection)
        : connection_{connection.find("://") != connection.npos ? std::move(connection) : limits + connection} {}

    result<void> write(std::span<trace::entry const> entries) {
        return attempt([&] {
            soci::transaction all{*session_};
            for (auto const& e : entries) std::visit([&](auto const& row) { write_row(row); }, e);
            all.commit();
        });
    }

    result<std::uint64_t> remove_before(wall_time t, std::uint64_t count_max) {
        std::uint64_t count = 0;
        ELASTICJOB_CHECK(attempt([&] {
            std::string const before = detail::sql::instant(t);
            // Selects rows by their addresses, because the planner would scan the whole table for so many keys.
            for (auto const& text : detail::sql::removals("ctid = ANY (ARRAY(SELECT ctid", "))"))
                count += run(*session_, text, &before, static_cast<long long>(count_max - count));
        }));
        return count;
    }

    result<detail::sql::selected_rows> select(detail::sql::selection const& what) {
        detail::sql::selected_rows all;
        ELASTICJOB_CHECK(attempt([&] { all = read_rows(*session_, what); }));
        return all;
    }

private:
    static constexpr char const* limits =
        "connect_timeout=5 tcp_user_timeout=10000 options='-c statement_timeout=10000' ";

    /// Calls `f()` with a session. If an error makes the session unusable, closes it.
    template <class F>
    result<void> attempt(F f) {
#if defined(__cpp_exceptions)
        try {
            if (!session_) connect();
            f();
            return success();
        } catch (soci::postgresql_soci_error const& e) {
            auto const state = e.sqlstate();
            // Data that does not fit, is too large, or violates a constraint. All other errors may be temporary, and so
            // are those of instances that create the tables at the same time.
            bool const is_of_data = state.starts_with("22") || state.starts_with("23") || state.starts_with("54") ||
                                    state.starts_with("P0");
            bool const is_refused = session_ && is_of_data;
            forget_statements(); // otherwise the values of the failed statement would stay in memory
            if (!is_refused) disconnect();
            return error{is_refused ? errc::invalid_argument : errc::unreachable, in_one_line(e.what())};
        } catch (std::exception const& e) {
            disconnect();
            return error{errc::unreachable, in_one_line(e.what())};
        }
#else
        static_assert(sizeof(F) == 0, "SOCI reports errors by exceptions, which are turned off");
#endif
    }

    /// SOCI's first line names the failed call, and the next lines may contain PostgreSQL's reason. The result is one
    /// line. It leaves out the rows and the statement that may follow, because they contain data of the run.
    static std::string in_one_line(std::string_view said) {
        constexpr std::size_t length_max = 500;
        for (std::string_view const rest : {"\nDETAIL:", " while executing \"", "\nwhile executing \""})
            said = said.substr(0, said.find(rest));
        std::string line;
        for (char const c : said.substr(0, length_max)) {
            if (c != '\n' && c != '\t')
                line += c;
            else if (!line.empty() && line.back() != ' ')
                line += ' ';
        }
        while (line.ends_with(' ')) line.pop_back();
        return line;
    }

    void connect() {
        auto fresh = std::make_unique<soci::session>(soci::postgresql, connection_);
        run(*fresh, "SET client_min_messages = warning"); // suppresses "table already exists"
        run(*fresh, "SET datestyle = ISO");               // the form of the times that are read
        create_missing(*fresh);
        session_ = std::move(fresh);
    }

    /// The tables may belong to another user: then this one may neither create nor remove anything.
    static void create_missing(soci::session& session) {
        detail::sql::selection there;
        for (auto const& r : detail::sql::schema) {
            there.text +=
                std::string{there.text.empty() ? "SELECT" : ","} + " CAST(to_regclass('" + r.name + "') AS TEXT)";
            ++there.columns;
        }
        auto const found = read_rows(session, there);
        run(session, "SET statement_timeout = '1h'"); // for the index of a large table
        for (std::size_t n = 0; n < detail::sql::schema.size(); ++n) {
            if (found.at(0)[n]) continue;
            run(session, detail::sql::schema[n].creation);
            if (detail::sql::schema[n].removal) run(session, detail::sql::schema[n].removal);
        }
        run(session, "RESET statement_timeout");
    }

    /// Returns the number of affected rows. SOCI's `<<` would be shorter, but with clang's undefined behaviour
    /// sanitizer it refers to symbols that SOCI's library does not export.
    static std::uint64_t run(soci::session& session, std::string const& text, std::string const* before = nullptr,
                             long long count = 0) {
        soci::statement s{session};
        if (before) {
            s.exchange(soci::use(*before, "before"));
            s.exchange(soci::use(count, "count"));
        }
        s.alloc();
        s.prepare(text, soci::details::st_one_time_query);
        s.define_and_bind();
        s.execute(true);
        return before ? static_cast<std::uint64_t>(s.get_affected_rows()) : 0;
    }

    /// A statement and its values.
    struct prepared {
        explicit prepared(soci::session& session) : statement{session} { values.reserve(16); } // they must not move
        void set(std::size_t n, std::optional<std::string> const& text) {
            values[n].first = text ? detail::clean_text(*text, std::string::npos) : std::string{};
            values[n].second = text ? soci::i_ok : soci::i_null;
        }
        void set(std::size_t n, int number) { set(n, std::to_string(number)); }
        std::vector<std::pair<std::string, soci::indicator>> values;
        soci::statement statement;
    };

    template <class Row>
    std::unique_ptr<prepared> prepare(Row const& row) {
        auto p = std::make_unique<prepared>(*session_);
        detail::sql::bind(row, [&](char const* name, auto const&) {
            auto& value = p->values.emplace_back();
            p->statement.exchange(soci::use(value.first, value.second, name));
        });
        bool const is_execution = std::is_same_v<Row, trace::execution_event>;
        p->statement.alloc();
        p->statement.prepare(is_execution ? detail::sql::write_execution : detail::sql::write_status);
        p->statement.define_and_bind();
        return p;
    }

    template <class Row>
    void write_row(Row const& row) {
        auto& p = std::is_same_v<Row, trace::execution_event> ? execution_ : status_;
        if (!p) p = prepare(row);
        std::size_t n = 0;
        detail::sql::bind(row, [&](char const*, auto const& value) { p->set(n++, value); });
        p->statement.execute(true);
    }

    static detail::sql::selected_rows read_rows(soci::session& session, detail::sql::selection const& what) {
        std::vector<std::pair<std::string, soci::indicator>> columns(what.columns);
        soci::statement s{session};
        for (auto& [value, state] : columns) s.exchange(soci::into(value, state));
        for (auto const& [name, value] : what.values) s.exchange(soci::use(value, name));
        s.alloc();
        s.prepare(what.text);
        s.define_and_bind();
        s.execute();
        detail::sql::selected_rows all;
        while (s.fetch()) {
            auto& row = all.emplace_back(what.columns);
            for (std::size_t n = 0; n < what.columns; ++n)
                if (columns[n].second == soci::i_ok) row[n] = columns[n].first;
        }
        return all;
    }

    void forget_statements() {
        execution_.reset();
        status_.reset();
    }
    void disconnect() {
        forget_statements();
        session_.reset();
    }

    std::string connection_;
    std::unique_ptr<soci::session> session_;
    std::unique_ptr<prepared> execution_, status_; ///< prepared in the session
};

static_assert(event_database<PostgresDatabase> && readable_event_database<PostgresDatabase>);

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_POSTGRES_DATABASE_HPP
