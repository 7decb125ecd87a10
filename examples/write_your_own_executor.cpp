// SPDX-License-Identifier: Apache-2.0
// How do I decide how the bodies of my jobs are called?
//
// With an executor: a function object that gets the body and the context of one item. This one gives each body a
// connection to a database, and commits only if the body succeeds.
#include <elasticjob/elasticjob.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <semaphore>
#include <type_traits>

using namespace elasticjob;

struct connection {
    void begin() { std::printf("begin\n"); }
    void end(bool is_good) { std::printf(is_good ? "commit\n" : "roll back\n"); }
};

template <class B>
concept body_with_connection = std::is_invocable_r_v<result<void>, B&, connection&, sharding_context const&>;

struct InTransaction {
    static constexpr job_type type = job_type::simple;

    template <body_with_connection Body>
    result<void> operator()(Body& body, sharding_context const& ctx) const {
        connection c; // from a pool, in a real program: each job has a copy of the executor, so keep a pointer to it
        c.begin();
        auto outcome = call(body, c, ctx);
        c.end(outcome.has_value());
        return outcome;
    }

    // What the compiler says of any other body.
    template <class Body, class>
    static constexpr void check_body() {
        static_assert(body_with_connection<Body>, "InTransaction calls body(connection&, context): a result<void>");
    }

private:
    // An executor lets no exception out: it turns each into an error.
    template <class Body>
    static result<void> call(Body& body, connection& c, sharding_context const& ctx) {
        try {
            return body(c, ctx);
        } catch (std::exception const& e) {
            return error{errc::job_threw, e.what()};
        } catch (...) {
            return error{errc::job_threw, "an exception that is no std::exception"};
        }
    }
};
static_assert(executor<InTransaction>);

int main() {
    MemoryRegistry registry;
    std::counting_semaphore<> runs{0};
    job_scheduler<MemoryRegistry, AverageAllocation, InTransaction> scheduler{registry};

    auto settle = scheduler.schedule({.name = "settle", .cron = "0/1 * * * * ?", .sharding_total_count = 1},
                                     [&runs](connection&, sharding_context const& ctx) -> result<void> {
                                         std::printf("  settle item %u\n", ctx.item);
                                         runs.release();
                                         return success();
                                     });
    if (!settle) {
        std::fprintf(stderr, "%s\n", to_string(settle.error()).c_str());
        return 1;
    }
    for (int n = 0; n < 2; ++n)
        if (!runs.try_acquire_for(std::chrono::seconds{30})) return 1;
}
