// Reads the bodies of answers that only clients read.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents_sdk/cpp/mirror.hpp"
#include "common/model/receipt.hpp"

namespace tafel::sdk {

// The fault by which a host is told of an error that the server answered.
Fault fault_of(const ErrorInfo& error);
// By which version a board was deleted, as the error says; 0 when it does not.
Version deleted_version(const ErrorInfo& error);

// A member of a map; empty, or nullopt, when it is not there or of another type.
std::string text_of(const Value& body, std::string_view member);
std::optional<std::uint64_t> number_of(const Value& body, std::string_view member);

// The answer to the question `cells`.
Result<Mirror::Page> page_from_value(const Value& body);
// Of a heartbeat: the last version that was sent of each board.
std::vector<std::pair<std::string, Version>> heads_of(const Value& body);

}  // namespace tafel::sdk
