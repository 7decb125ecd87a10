// SPDX-License-Identifier: Apache-2.0
#include <console/java_answers.hpp>
#include <support/places.hpp>

#include <doctest/doctest.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <fstream>
#include <utility>

namespace elasticjob::test {

namespace {

/// Removes the part before the separator, and the separator, from the text, and returns the part.
std::string take_to(std::string& text, char separator) {
    auto const end = std::min(text.find(separator), text.size());
    auto word = text.substr(0, end);
    text.erase(0, end + 1);
    return word;
}

std::vector<std::string> columns_of(std::string line) {
    std::vector<std::string> columns;
    for (auto count = std::count(line.begin(), line.end(), '\t'); count >= 0; --count)
        columns.push_back(take_to(line, '\t'));
    return columns;
}

/// Adds `path data` to the nodes.
void add_node(node_texts& to, std::string line) {
    auto path = take_to(line, ' ');
    to[std::move(path)] = std::move(line);
}

std::map<std::string, java_state> read_answers() {
    std::map<std::string, java_state> all;
    java_state* state = nullptr;
    std::ifstream file{source_path("test/console/java_answers.txt")};
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        auto const kind = take_to(line, ' ');
        if (kind == "=") {
            state = &all[line];
            continue;
        }
        REQUIRE(state);
        if (kind == "*") {
            state->nodes = all.at(line).nodes;
        } else if (kind == "+") {
            add_node(state->nodes, line);
        } else if (kind == "-") {
            state->nodes.erase(line);
        } else if (kind == "x") {
            state->executions.push_back(columns_of(line));
        } else if (kind == "s") {
            state->states.push_back(columns_of(line));
        } else if (kind == ">") {
            auto& a = state->answers.emplace_back();
            a.method = take_to(line, ' ');
            a.target = take_to(line, ' ');
            a.body = line;
        } else if (kind == "<") {
            auto& a = state->answers.back();
            a.status = std::stoi(take_to(line, ' '));
            a.type = take_to(line, ' ');
            a.text = line;
        } else {
            REQUIRE(kind == "~");
            auto& a = state->answers.back();
            if (take_to(line, ' ') == "-")
                a.removed.push_back(line);
            else
                add_node(a.written, line);
        }
    }
    return all;
}

std::string text_of(rapidjson::Value const& value) {
    rapidjson::StringBuffer text;
    rapidjson::Writer<rapidjson::StringBuffer> writer{text};
    value.Accept(writer);
    return text.GetString();
}

/// The elements; those of a set are sorted.
std::vector<rapidjson::Value const*> elements_of(rapidjson::Value const& list, bool is_set) {
    std::vector<rapidjson::Value const*> all;
    for (auto const& one : list.GetArray()) all.push_back(&one);
    if (is_set)
        std::sort(all.begin(), all.end(), [](auto const* a, auto const* b) { return text_of(*a) < text_of(*b); });
    return all;
}

} // namespace

std::map<std::string, java_state> const& java_answers() {
    static auto const all = read_answers();
    REQUIRE_FALSE(all.empty());
    return all;
}

std::string difference(rapidjson::Value const& theirs, rapidjson::Value const& ours, std::string const& where) {
    auto const here = [&] { return where + ": 2.1.5 has " + text_of(theirs) + ", and this console " + text_of(ours); };
    if (theirs.IsObject() && ours.IsObject()) {
        for (auto const& m : theirs.GetObject()) {
            auto const there = ours.FindMember(m.name);
            if (there == ours.MemberEnd()) return where + ": lacks " + m.name.GetString();
            auto found = difference(m.value, there->value, where + "/" + m.name.GetString());
            if (!found.empty()) return found;
        }
        for (auto const& m : ours.GetObject())
            if (!theirs.HasMember(m.name)) return where + ": only this console has " + m.name.GetString();
        return {};
    }
    if (theirs.IsArray() && ours.IsArray() && theirs.Size() == ours.Size()) {
        bool const is_set = where.ends_with("/instances") || where.ends_with("/jobNames") || where.ends_with("/rows");
        auto const left = elements_of(theirs, is_set), right = elements_of(ours, is_set);
        for (std::size_t n = 0; n < left.size(); ++n) {
            auto found = difference(*left[n], *right[n], where + "/" + std::to_string(n));
            if (!found.empty()) return found;
        }
        return {};
    }
    return theirs == ours ? std::string{} : here();
}

std::string difference(std::string const& theirs, std::string const& ours) {
    if (theirs == ours) return {};
    rapidjson::Document left, right;
    if (left.Parse(theirs.c_str()).HasParseError() || right.Parse(ours.c_str()).HasParseError())
        return "2.1.5 answers " + theirs + ", and this console " + ours;
    return difference(left, right);
}

} // namespace elasticjob::test
