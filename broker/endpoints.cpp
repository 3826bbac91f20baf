#include "broker/endpoints.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "broker/server.hpp"
#include "common/base/text.hpp"

namespace tafel::broker {
namespace {

constexpr std::string_view tcp = "tcp://";
constexpr std::string_view ipc = "ipc://";
constexpr std::string_view inproc = "inproc://";

bool is_loopback(const std::string& host) {
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24U) == 127;
}

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

std::optional<std::string> tcp_defect(const std::string& endpoint) {
  const std::size_t colon = endpoint.rfind(':');
  if (colon < tcp.size())
    return endpoint + " has no port: right is tcp://127.0.0.1:7117, or port 0 to let the system choose";
  const std::string host = endpoint.substr(tcp.size(), colon - tcp.size());
  if (!is_port(std::string_view(endpoint).substr(colon + 1))) {
    return endpoint + " needs a port from 0 to 65535 (0 lets the system choose)";
  }
  if (is_loopback(host)) return std::nullopt;
  return endpoint +
         " can be reached from elsewhere, and this server does not know who is there: it binds only loopback addresses "
         "(tcp://127.0.0.1:PORT, tcp://[::1]:PORT) and ipc";
}

std::optional<std::string> ipc_defect(const std::string& endpoint) {
  const std::string path = endpoint.substr(ipc.size());
  if (path.empty() || path.front() == '@' || path.front() == '*') {
    return endpoint +
           " needs the path of a file, whose directory keeps others out: right is ipc:///run/user/1000/tafel/socket";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> endpoint_defect(const std::string& endpoint, bool allow_inproc) {
  if (!is_utf8(endpoint) || has_control_character(endpoint)) return "an endpoint is text without control characters";
  if (endpoint.starts_with(tcp)) return tcp_defect(endpoint);
  if (endpoint.starts_with(ipc)) return ipc_defect(endpoint);
  if (allow_inproc && endpoint.starts_with(inproc) && endpoint.size() > inproc.size()) return std::nullopt;
  return endpoint + " is no endpoint: right are tcp://127.0.0.1:PORT and ipc:///path/of/socket";
}

std::string with_address(const std::string& endpoint) {
  const std::string name = "tcp://localhost:";
  return endpoint.starts_with(name) ? "tcp://127.0.0.1:" + endpoint.substr(name.size()) : endpoint;
}

std::string endpoint_beside(const std::vector<std::string>& request, std::string_view suffix) {
  const auto outside = std::find_if(request.begin(), request.end(),
                                    [](const std::string& endpoint) { return !endpoint.starts_with(inproc); });
  const std::string& first = outside == request.end() ? request.front() : *outside;
  if (first.starts_with(tcp)) return first.substr(0, first.rfind(':')) + ":0";
  return first + "-" + std::string(suffix);
}

}  // namespace tafel::broker
