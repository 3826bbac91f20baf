// Options, roles and endpoints: what is refused, and what the refusal says.
#include "broker/config.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "broker/roles.hpp"
#include "tests/broker/rig.hpp"

namespace tafel {
namespace {

using broker::read_config;
using testing::TemporaryDirectory;

broker::Environment environment(std::map<std::string, std::string> values = {}) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

std::string refusal(const std::vector<std::string>& arguments, std::map<std::string, std::string> values = {}) {
  const auto config = read_config(arguments, environment(std::move(values)));
  if (config) return "accepted";
  EXPECT_EQ(config.error().fault, Fault::bad_config);
  return config.error().message;
}

std::string write_file(const TemporaryDirectory& folder, const std::string& name, const std::string& text) {
  const auto path = folder.path() / name;
  std::ofstream(path) << text;
  return path.string();
}

TEST(Config, ReadsTheCommandLine) {
  const auto config =
      read_config({"--data", "/d", "--listen", "tcp://127.0.0.1:0", "--listen=ipc:///run/t", "--quota", "2G",
                   "--heartbeat-ms", "250", "--log-level", "debug", "--log-json", "--open-feed", "tcp://127.0.0.1:1"},
                  environment());
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->server.data, "/d");
  EXPECT_EQ(config->server.listen, (std::vector<std::string>{"tcp://127.0.0.1:0", "ipc:///run/t"}));
  EXPECT_EQ(config->server.quota_bytes, 2ULL << 30U);
  EXPECT_EQ(config->server.heartbeat_ms, 250);
  EXPECT_EQ(config->server.open_feed_listen, "tcp://127.0.0.1:1");
  EXPECT_EQ(config->log.level, "debug");
  EXPECT_TRUE(config->log.json);
}

TEST(Config, TheCommandLineWinsOverTheEnvironmentAndThatOverTheFile) {
  const TemporaryDirectory folder;
  const std::string file = write_file(
      folder, "tafeld.conf", "# one\ndata = /file\nlisten = tcp://127.0.0.1:3\nheartbeat-ms = 3\nlog-json = true\n");
  const auto config = read_config(
      {"--config", file, "--data", "/line"},
      environment(
          {{"TAFEL_DATA", "/env"}, {"TAFEL_LISTEN", "tcp://127.0.0.1:1, tcp://127.0.0.1:2"}, {"TAFEL_SERVER", "x"}}));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->server.data, "/line");
  EXPECT_EQ(config->server.listen, (std::vector<std::string>{"tcp://127.0.0.1:1", "tcp://127.0.0.1:2"}));
  EXPECT_EQ(config->server.heartbeat_ms, 3);
  EXPECT_TRUE(config->log.json);
}

TEST(Config, ReadsWhatIsDoneToTheDataBeforeItIsServed) {
  const auto plain = read_config({"--data", "/d"}, environment());
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_FALSE(plain->server.compacts);
  EXPECT_EQ(plain->server.erasures, "");
  const auto config = read_config({"--data", "/d", "--compact"}, environment({{"TAFEL_ERASURES", "/backup/ledger"}}));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_TRUE(config->server.compacts);
  EXPECT_EQ(config->server.erasures, "/backup/ledger");
}

TEST(Config, HelpAndVersionNeedNothingElse) {
  const auto help = read_config({"--help"}, environment());
  ASSERT_TRUE(help && help->text);
  for (const char* option : {"--data", "--listen", "--query-listen", "--feed-listen", "--open-feed", "--roles",
                             "--config", "--quota", "--heartbeat-ms", "--log-level", "--log-json", "--version"}) {
    EXPECT_NE(help->text->find(option), std::string::npos) << option;
  }
  const auto version = read_config({"--version"}, environment());
  ASSERT_TRUE(version && version->text);
  EXPECT_TRUE(version->text->starts_with("tafeld "));
}

TEST(Config, SaysWhatWouldBeRight) {
  EXPECT_NE(refusal({}).find("--data DIR is required"), std::string::npos);
  EXPECT_EQ(refusal({"--data", "/d", "--lisen", "x"}), "unknown option --lisen: did you mean --listen?");
  EXPECT_NE(refusal({"--data", "/d", "--zzzzzzzz", "x"}).find("--help"), std::string::npos);
  EXPECT_NE(refusal({"--data", "/d", "--heart", "3"}).find("unknown option"), std::string::npos);  // no abbreviations
  EXPECT_NE(refusal({"--data", "--compact"}).find("--data needs a value"), std::string::npos);
  EXPECT_EQ(refusal({"--data=--compact"}), "accepted");  // a strange name, but one that was meant
  EXPECT_NE(refusal({"--data", "/d", "extra"}).find("--help"), std::string::npos);
  EXPECT_NE(refusal({"--data", "/d", "--data", "/e"}).find("2 times"), std::string::npos);
  EXPECT_NE(refusal({"--data", "/d", "--quota", "2x"}).find("1G"), std::string::npos);
  EXPECT_NE(refusal({"--data", "/d", "--quota", "99999999999T"}).find("1G"), std::string::npos);
  EXPECT_NE(refusal({"--data", "/d", "--heartbeat-ms", "0"}).find("1 to 60000"), std::string::npos);
  EXPECT_NE(refusal({"--data", "/d", "--config", "/no/such/file"}).find("/no/such/file"), std::string::npos);
  EXPECT_NE(refusal({"--data", "/d", "--roles", "/no/such/file"}).find("/no/such/file"), std::string::npos);
}

TEST(Config, AFileWithAnUnknownOptionIsRefusedByName) {
  const TemporaryDirectory folder;
  const std::string file = write_file(folder, "tafeld.conf", "data = /d\nquotta = 3\n");
  EXPECT_EQ(refusal({"--config", file}), file + ": unknown option quotta: did you mean quota?");
}

TEST(Config, ADirectoryIsNoFile) {
  const testing::TemporaryDirectory folder;
  const std::string here = folder.path().string();
  EXPECT_NE(refusal({"--data", "/d", "--config", here}).find("is a directory"), std::string::npos);
  EXPECT_NE(refusal({"--data", "/d", "--roles", here}).find("is a directory"), std::string::npos);
}

TEST(Endpoints, OnlyLoopbackAndIpcAreBound) {
  for (const char* fine : {"tcp://127.0.0.1:0", "tcp://127.5.6.7:80", "tcp://[::1]:7117", "tcp://localhost:0",
                           "ipc:///run/t/s", "ipc://s"}) {
    EXPECT_EQ(broker::endpoint_defect(fine, false), std::nullopt) << fine;
  }
  for (const char* bad : {"tcp://0.0.0.0:1",
                          "tcp://*:1",
                          "tcp://192.168.1.1:1",
                          "tcp://example.org:1",
                          "tcp://[::]:1",
                          "tcp://eth0:1",
                          "tcp://127.0.0.1",
                          "tcp://127.0.0.1:*",
                          "tcp://127.0.0.1:70000",
                          "tcp://127.0.0.1:",
                          "tcp://",
                          "tcp://:5",
                          "tcp://127.0.0.1.example.org:1",
                          "tcp://eth0;127.0.0.1:1",
                          "tcp://[::ffff:127.0.0.1]:1",
                          "tcp://2130706433:1",
                          "udp://127.0.0.1:1",
                          "pgm://127.0.0.1:1",
                          "inproc://x",
                          "ipc://",
                          "ipc://@name",
                          "ipc://*",
                          "",
                          "127.0.0.1:1",
                          "tcp://127.0.0.1:1\n"}) {
    EXPECT_NE(broker::endpoint_defect(bad, false), std::nullopt) << bad;
  }
  EXPECT_EQ(broker::endpoint_defect("inproc://x", true), std::nullopt);
  EXPECT_NE(broker::endpoint_defect("tcp://*:1", true), std::nullopt);
}

std::string roles_refusal(std::string_view json) {
  const auto roles = broker::read_roles(json, "roles.json");
  if (roles) return "accepted";
  EXPECT_EQ(roles.error().fault, Fault::bad_config);
  return roles.error().message;
}

TEST(Roles, AreReadAsWritten) {
  const auto roles =
      broker::read_roles(R"({"roles": {"planner": [{"boards": "acme/**", "paths": "budget.**", "ops": ["read", "write"],
      "cap": "inferred"}], "guest": [{"ops": ["read"]}]}, "actors": {"analyst": ["planner"], "*": ["guest"]}})",
                         "roles.json");
  ASSERT_TRUE(roles.has_value()) << roles.error().message;
  const Path budget = *Path::parse("budget.max");
  const Rights analyst = roles->rights_of("analyst", "acme/1");
  EXPECT_EQ(analyst.cap(budget, Right::incr), Confidence::inferred);
  EXPECT_EQ(analyst.cap(*Path::parse("other"), Right::set), std::nullopt);
  EXPECT_FALSE(roles->rights_of("analyst", "other/1").may_read_anything());
  EXPECT_TRUE(roles->rights_of("booker", "acme/1").may_read_everything());
  EXPECT_EQ(roles->rights_of("booker", "acme/1").cap(budget, Right::set), std::nullopt);
}

TEST(Roles, WriteIsEveryVerbOfFieldsAdminTheOthersAndTheStarIsAll) {
  const auto roles =
      broker::read_roles(R"({"roles": {"w": [{"ops": ["write"]}], "a": [{"ops": ["*"]}], "d": [{"ops": ["admin"]}]},
      "actors": {"w": ["w"], "a": ["a"], "d": ["d"]}})",
                         "roles.json");
  ASSERT_TRUE(roles.has_value());
  const Path path = *Path::parse("x");
  EXPECT_FALSE(roles->rights_of("w", "b").may_read(path));
  EXPECT_TRUE(roles->rights_of("w", "b").cap(path, Right::dismiss).has_value());
  EXPECT_TRUE(roles->rights_of("w", "b").cap(path, Right::revert).has_value());
  EXPECT_FALSE(roles->rights_of("w", "b").cap(path, Right::erase).has_value());
  EXPECT_TRUE(roles->rights_of("d", "b").cap(path, Right::schema).has_value());
  EXPECT_TRUE(roles->rights_of("d", "b").cap(path, Right::tag).has_value());
  EXPECT_FALSE(roles->rights_of("d", "b").cap(path, Right::revert).has_value());
  EXPECT_TRUE(roles->rights_of("a", "b").may_read(path));
  EXPECT_TRUE(roles->rights_of("a", "b").cap(path, Right::unset).has_value());
  EXPECT_FALSE(roles->rights_of("stranger", "b").may_read(path));
}

TEST(Roles, ErrorsNameThePlace) {
  EXPECT_NE(roles_refusal("{").find("roles.json: "), std::string::npos);
  EXPECT_NE(roles_refusal("[]").find("must be an object"), std::string::npos);
  EXPECT_NE(roles_refusal(R"({"roles": {}})").find("roles.json: actors is missing"), std::string::npos);
  EXPECT_NE(roles_refusal(R"({"roles": {}, "actors": {}, "x": 1})").find("roles.json: x is unknown"),
            std::string::npos);
  EXPECT_NE(roles_refusal(R"({"roles": {"r": [{"ops": ["read"], "pathes": "a"}]}, "actors": {}})")
                .find("roles.json: roles.r[0].pathes is no member"),
            std::string::npos);
  EXPECT_NE(roles_refusal(R"({"roles": {"r": [{"paths": "a"}]}, "actors": {}})").find("roles.r[0] needs \"ops\""),
            std::string::npos);
  EXPECT_NE(roles_refusal(R"({"roles": {"r": [{"ops": ["raed"]}]}, "actors": {}})")
                .find("roles.r[0].ops[0] \"raed\" is no op"),
            std::string::npos);
  EXPECT_NE(
      roles_refusal(R"({"roles": {"r": [{"ops": ["read"], "cap": "sure"}]}, "actors": {}})").find("roles.r[0].cap"),
      std::string::npos);
  EXPECT_NE(roles_refusal(R"({"roles": {"r": [{"ops": ["read"], "paths": ""}]}, "actors": {}})")
                .find("roles.r[0].paths a path pattern is empty"),
            std::string::npos);
  EXPECT_NE(roles_refusal(R"({"roles": {"r": [{"ops": ["read"], "boards": "acme/dev-*"}]}, "actors": {}})")
                .find("* stands for a whole segment"),
            std::string::npos);
  EXPECT_NE(roles_refusal(R"({"roles": {}, "actors": {"analyst": ["ghost"]}})")
                .find("roles.json: actors.analyst[0] names the role \"ghost\""),
            std::string::npos);
  EXPECT_NE(roles_refusal(R"({"roles": {"r": 1}, "actors": {}})").find("roles.r must be a list"), std::string::npos);
}

}  // namespace
}  // namespace tafel
