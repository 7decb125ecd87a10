// SPDX-License-Identifier: Apache-2.0
/// \file \brief A list whose nodes are part of their owners, so linking and unlinking never allocate.
#ifndef ELASTICJOB_CORE_INTRUSIVE_LIST_HPP
#define ELASTICJOB_CORE_INTRUSIVE_LIST_HPP

#include <utility>

namespace elasticjob {

/// Base class for elements of an `intrusive_list`. Its destructor unlinks the element.
class list_hook {
public:
    list_hook() = default;
    list_hook(list_hook const&) = delete;
    list_hook& operator=(list_hook const&) = delete;
    ~list_hook() { unlink(); }

    bool is_linked() const noexcept { return next_ != nullptr; }

    /// No effect when not linked. O(1).
    void unlink() noexcept {
        if (!is_linked()) return;
        prev_->next_ = next_;
        next_->prev_ = prev_;
        next_ = prev_ = nullptr;
    }

private:
    template <class T>
    friend class intrusive_list;

    list_hook* next_ = nullptr;
    list_hook* prev_ = nullptr;
};

/// A circular doubly linked list of `T`, which derives from `list_hook`. It does not own its elements. Threads:
/// external locking.
template <class T>
class intrusive_list {
public:
    intrusive_list() noexcept { reset(); }
    intrusive_list(intrusive_list const&) = delete;
    intrusive_list& operator=(intrusive_list const&) = delete;
    ~intrusive_list() {
        while (!empty()) front().unlink();
        head_.next_ = head_.prev_ = nullptr; // so that the head's own destructor unlinks nothing
    }

    bool empty() const noexcept { return head_.next_ == &head_; }

    T& front() noexcept { return static_cast<T&>(*head_.next_); }

    /// Precondition: not in any list.
    void push_back(T& node) noexcept {
        list_hook& hook = node;
        hook.prev_ = head_.prev_;
        hook.next_ = &head_;
        hook.prev_->next_ = &hook;
        head_.prev_ = &hook;
    }

    /// Precondition: not empty.
    T& pop_front() noexcept {
        T& node = front();
        node.unlink();
        return node;
    }

    /// Moves all nodes of `other` to the end of this list. O(1).
    void splice_back(intrusive_list& other) noexcept {
        if (other.empty()) return;
        other.head_.next_->prev_ = head_.prev_;
        other.head_.prev_->next_ = &head_;
        head_.prev_->next_ = other.head_.next_;
        head_.prev_ = other.head_.prev_;
        other.reset();
    }

    /// Calls `f(T&)` for each node. `f` may unlink the node that it receives, but no other node.
    template <class F>
    void for_each(F&& f) {
        for (list_hook* at = head_.next_; at != &head_;) {
            T& node = static_cast<T&>(*at);
            at = at->next_;
            f(node);
        }
    }

private:
    void reset() noexcept { head_.next_ = head_.prev_ = &head_; }
    list_hook head_;
};

} // namespace elasticjob
#endif // ELASTICJOB_CORE_INTRUSIVE_LIST_HPP
