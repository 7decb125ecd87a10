// SPDX-License-Identifier: Apache-2.0
/// \file \brief The role of a database of events that can be read.
#ifndef ELASTICJOB_EVENTS_SQL_SELECTION_HPP
#define ELASTICJOB_EVENTS_SQL_SELECTION_HPP

#include <elasticjob/core/result.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

namespace detail::sql {

/// A statement that reads rows.
struct selection {
    std::string text;                                          ///< with parameters `:name`
    std::vector<std::pair<std::string, std::string>> values{}; ///< of the parameters, each of which occurs once
    std::size_t columns = 0;
    std::string filter{};          ///< the statement from FROM on, without the order and limits of a page
    std::size_t filter_values = 0; ///< the number of values that the filter has
};

using selected_rows = std::vector<std::vector<std::optional<std::string>>>;

} // namespace detail::sql

/// | expression    | returns                 | must hold                                                                  |
/// |---------------|-------------------------|----------------------------------------------------------------------------|
/// | `d.select(s)` | `result<selected_rows>` | the rows in their order, each value as text; changes nothing in a row      |
///
/// The call connects and creates the tables if necessary. Errors: unreachable if the call may succeed later;
/// invalid_argument if the database will never accept it. Models: SqliteDatabase, PostgresDatabase. Threads: one.
template <class D>
concept readable_event_database = requires(D& d, detail::sql::selection const& s) {
    { d.select(s) } -> std::same_as<result<detail::sql::selected_rows>>;
};

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_SQL_SELECTION_HPP
