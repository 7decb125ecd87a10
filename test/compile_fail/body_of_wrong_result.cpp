// expect: SimpleExecutor: the body has to return void or result<void>
// expect: CoroutineExecutor: the body has to return task<void> or task<result<void>>
// expect: CoroutineExecutor calls body\(run\), with a coroutine_context<Loop> const&
// expect: DataflowExecutor calls body.fetch\(context\), with a sharding_context const&: this body has no such fetch
// expect: DataflowExecutor: fetch has to return a range
// expect: DataflowExecutor calls body.process\(context, data\)
// expect: ScriptExecutor takes a script
// expect: the executor of this scheduler cannot run such a body
// SPDX-License-Identifier: Apache-2.0
// What keeps an executor from a body is said, whatever the executor.
#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/execution/coroutine_executor.hpp>
#include <elasticjob/execution/dataflow_executor.hpp>
#include <elasticjob/execution/script_executor.hpp>
#include <elasticjob/execution/simple_executor.hpp>

#include <vector>

using namespace elasticjob;

namespace {

struct OfOthers {
    [[maybe_unused]] static constexpr job_type type = job_type::simple;
};

struct without_process {
    std::vector<int> fetch(sharding_context const&) { return {}; }
};
struct whole : without_process {
    void process(sharding_context const&, int) {}
};
struct fetches_one {
    int fetch(sharding_context const&) { return 0; }
};

template <class Executor, class Body>
void check(Body) {
    detail::check_body<Body, Executor, event_loop>();
}

} // namespace

void run_them() {
#ifdef BAD
    check<SimpleExecutor>([] { return 1; });
    check<CoroutineExecutor>([](auto const&) { return 1; });
    check<CoroutineExecutor>([](int) {});
    check<DataflowExecutor>([] {});
    check<DataflowExecutor>(fetches_one{});
    check<DataflowExecutor>(without_process{});
    check<ScriptExecutor>([] {});
    check<OfOthers>([] {});
#endif
    check<SimpleExecutor>([] {});
    check<CoroutineExecutor>([](auto const&) -> task<void> { co_return; });
    check<DataflowExecutor>(whole{});
    check<ScriptExecutor>(script{});
}
