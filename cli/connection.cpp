#include "cli/connection.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "common/base/limits.hpp"
#include "common/model/names.hpp"

namespace tafel::cli {
namespace {

constexpr std::string_view default_server = "tcp://127.0.0.1:7117";

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

std::optional<std::string> login_name() {
  const passwd* user = ::getpwuid(::geteuid());
  return user == nullptr ? environment("USER") : std::optional<std::string>(user->pw_name);
}

Result<std::string> actor_of(const Arguments& arguments) {
  auto name = arguments.text("as");
  if (!name) name = environment("TAFEL_ACTOR");
  if (!name) name = login_name();
  if (!name) return fail(Fault::bad_config, "this user has no login name: say who you are with --as NAME");
  if (const auto defect = name_defect(*name)) return fail(Fault::bad_config, "--as: " + *defect);
  return *name;
}

std::string server_of(const Arguments& arguments) {
  auto server = arguments.text("server");
  if (!server) server = environment("TAFEL_SERVER");
  return server.value_or(std::string(default_server));
}

}  // namespace

Result<Connection> Connection::open(const Arguments& arguments) {
  Connection connection;
  const auto timeout = arguments.seconds("timeout");
  if (!timeout) return tl::unexpected(timeout.error());
  connection.timeout_ = *timeout;

  sdk::AgentOptions options;
  options.server = server_of(arguments);
  if (options.server.empty()) return fail(Fault::bad_config, "--server needs an endpoint, as tcp://127.0.0.1:7117");
  options.outbox_deltas_max = limits::pipeline_deltas_max;
  if (*timeout) options.connect_timeout = options.submit_timeout = **timeout;
  auto actor = actor_of(arguments);
  if (!actor) return tl::unexpected(actor.error());
  options.actor = std::move(*actor);

  auto agent = sdk::Agent::connect(std::move(options));
  if (!agent) return tl::unexpected(agent.error());
  connection.agent_ = std::move(*agent);
  return connection;
}

Result<Value> Connection::ask(const Value& question, std::chrono::milliseconds otherwise) {
  return agent_->query(question, patience(otherwise));
}

Result<void> Connection::ask_pages(Value question, std::string_view list, std::string_view cursor,
                                   const std::function<Result<void>(const Value&)>& take) {
  for (;;) {
    const auto answer = ask(question);
    if (!answer) return tl::unexpected(answer.error());
    const auto items = member_of(*answer, list);
    if (!items) return tl::unexpected(items.error());
    const auto* values = items->get_if<List>();
    if (values == nullptr) return fail(Fault::bad_bytes, fmt::format("the server's answer: \"{}\" is no list", list));
    for (const Value& value : *values) {
      if (auto taken = take(value); !taken) return taken;
    }
    const Value* next = answer->find("next");
    if (next == nullptr || next->is_nil()) return {};
    question.set(cursor, *next);
  }
}

Result<Value> member_of(const Value& answer, std::string_view name) {
  const Value* member = answer.find(name);
  if (member == nullptr) return fail(Fault::bad_bytes, fmt::format("the server's answer has no member \"{}\"", name));
  return *member;
}

}  // namespace tafel::cli
