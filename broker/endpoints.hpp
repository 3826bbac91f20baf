// Which endpoints a server may bind, and where its query and feed endpoints go when nobody said.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tafel::broker {

// The endpoint beside the first of `request` that other processes can reach (inproc when there is none): for tcp the
// same address and a port that the system chooses, else the same name with "-<suffix>".
std::string endpoint_beside(const std::vector<std::string>& request, std::string_view suffix);

// "localhost" means the loopback address, whatever the name resolves to here.
std::string with_address(const std::string& endpoint);

}  // namespace tafel::broker
