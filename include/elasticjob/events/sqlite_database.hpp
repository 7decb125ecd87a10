// SPDX-License-Identifier: Apache-2.0
/// \file \brief Records runs in an SQLite file. Needs libsqlite3: link with sqlite3.
#ifndef ELASTICJOB_EVENTS_SQLITE_DATABASE_HPP
#define ELASTICJOB_EVENTS_SQLITE_DATABASE_HPP

#include <elasticjob/events/event_database.hpp>
#include <elasticjob/events/sql_selection.hpp>

#include <memory>
#include <sqlite3.h>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace elasticjob {

/// An SQLite file. If it does not exist, it is created, accessible only to its owner (0600). It is in write-ahead mode,
/// so that other processes can read it during a write. A write waits up to a second for another writer. Threads: one at
/// a time.
class SqliteDatabase {
public:
    explicit SqliteDatabase(std::string path) : path_{std::move(path)} {}

    result<void> write(std::span<trace::entry const> entries) {
        auto written = write_all(entries);
        if (!written) {
            (void)run("ROLLBACK");
            // A new connection may work again.
            if (written.error() == errc::unreachable) close();
        }
        return written;
    }

    result<std::uint64_t> remove_before(wall_time t, std::uint64_t count_max) {
        auto removed = remove_oldest(t, count_max);
        if (!removed && removed.error() == errc::unreachable) close();
        return removed;
    }

    result<detail::sql::selected_rows> select(detail::sql::selection const& s) {
        auto found = read_rows(s);
        if (!found && found.error() == errc::unreachable) close();
        return found;
    }

private:
    struct closer {
        void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
        void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
    };
    using statement = std::unique_ptr<sqlite3_stmt, closer>;

    error failure() const {
        int const code = db_ ? sqlite3_errcode(db_.get()) & 0xff : SQLITE_NOMEM;
        bool const is_refused =
            code == SQLITE_CONSTRAINT || code == SQLITE_TOOBIG || code == SQLITE_MISMATCH || code == SQLITE_RANGE;
        return error{is_refused ? errc::invalid_argument : errc::unreachable,
                     db_ ? sqlite3_errmsg(db_.get()) : "out of memory", path_};
    }

    result<void> run(char const* text) {
        if (db_ && sqlite3_exec(db_.get(), text, nullptr, nullptr, nullptr) == SQLITE_OK) return success();
        return failure();
    }

    result<void> open() {
        if (db_) return success();
        make_private();
        sqlite3* db = nullptr;
        int const code = sqlite3_open_v2(path_.c_str(), &db,
                                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
        db_.reset(db); // also after a failure, because it holds the reason
        auto opened = code == SQLITE_OK ? set_up() : result<void>{failure()};
        if (!opened) close();
        return opened;
    }
    /// Creates a new file for its owner only; SQLite would create it readable for all users. SQLite gives the same mode
    /// to the files beside it. Does not open an existing file, because closing it would release the locks of other
    /// connections.
    void make_private() const {
        if (path_.empty() || path_ == ":memory:" || path_.starts_with("file:")) return;
        int const file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
        if (file >= 0) ::close(file);
    }
    result<void> set_up() {
        sqlite3_busy_timeout(db_.get(), 1000);
        for (auto const* text : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL"}) {
            ELASTICJOB_CHECK(run(text));
        }
        for (auto const& r : detail::sql::schema) {
            ELASTICJOB_CHECK(run(r.creation));
            if (r.removal) {
                ELASTICJOB_CHECK(run(r.removal));
            }
        }
        ELASTICJOB_TRY(execution_, prepare(detail::sql::write_execution));
        ELASTICJOB_TRY(status_, prepare(detail::sql::write_status));
        return success();
    }
    void close() {
        execution_.reset();
        status_.reset();
        db_.reset();
    }

    result<statement> prepare(char const* text) {
        sqlite3_stmt* s = nullptr;
        if (sqlite3_prepare_v2(db_.get(), text, -1, &s, nullptr) != SQLITE_OK) return failure();
        return statement{s};
    }
    result<void> step(sqlite3_stmt* s) {
        bool const is_done = sqlite3_step(s) == SQLITE_DONE;
        auto const outcome = is_done ? result<void>{success()} : result<void>{failure()};
        sqlite3_reset(s);
        sqlite3_clear_bindings(s);
        return outcome;
    }

    result<std::uint64_t> remove_oldest(wall_time t, std::uint64_t count_max) {
        ELASTICJOB_CHECK(open());
        std::uint64_t count = 0;
        for (auto const& text : detail::sql::removals("rowid IN (SELECT rowid", ")")) {
            ELASTICJOB_TRY(auto const s, prepare(text.c_str()));
            bind(s.get(), "before", detail::sql::instant(t));
            sqlite3_bind_int64(s.get(), place(s.get(), "count"), static_cast<sqlite3_int64>(count_max - count));
            ELASTICJOB_CHECK(step(s.get()));
            count += static_cast<std::uint64_t>(sqlite3_changes(db_.get()));
        }
        return count;
    }

    result<detail::sql::selected_rows> read_rows(detail::sql::selection const& what) {
        ELASTICJOB_CHECK(open());
        ELASTICJOB_TRY(auto const s, prepare(what.text.c_str()));
        for (auto const& [name, value] : what.values) bind(s.get(), name.c_str(), value);
        detail::sql::selected_rows all;
        int code = SQLITE_ROW;
        while ((code = sqlite3_step(s.get())) == SQLITE_ROW) {
            auto& row = all.emplace_back(what.columns);
            for (std::size_t n = 0; n < what.columns; ++n) {
                int const column = static_cast<int>(n);
                auto const* text = reinterpret_cast<char const*>(sqlite3_column_text(s.get(), column));
                if (text) row[n].emplace(text, static_cast<std::size_t>(sqlite3_column_bytes(s.get(), column)));
            }
        }
        if (code != SQLITE_DONE) return failure();
        return all;
    }

    static int place(sqlite3_stmt* s, char const* name) {
        return sqlite3_bind_parameter_index(s, std::string{":"}.append(name).c_str());
    }
    static void bind(sqlite3_stmt* s, char const* name, int number) { sqlite3_bind_int(s, place(s, name), number); }
    static void bind(sqlite3_stmt* s, char const* name, std::string const& text) {
        sqlite3_bind_text64(s, place(s, name), text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    }
    static void bind(sqlite3_stmt* s, char const* name, std::optional<std::string> const& text) {
        if (text) bind(s, name, *text); // unbound parameters are NULL
    }

    result<void> write_all(std::span<trace::entry const> entries) {
        ELASTICJOB_CHECK(open());
        ELASTICJOB_CHECK(run("BEGIN IMMEDIATE"));
        for (auto const& e : entries) {
            auto* const s = e.index() == 0 ? execution_.get() : status_.get();
            std::visit(
                [&](auto const& row) {
                    detail::sql::bind(row, [&](char const* name, auto const& value) { bind(s, name, value); });
                },
                e);
            ELASTICJOB_CHECK(step(s));
        }
        return run("COMMIT");
    }

    std::string path_;
    std::unique_ptr<sqlite3, closer> db_;
    statement execution_, status_;
};

static_assert(event_database<SqliteDatabase> && readable_event_database<SqliteDatabase>);

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_SQLITE_DATABASE_HPP
