#include "bench/load/command.hpp"

#include <fmt/format.h>

#include <csignal>
#include <iostream>

#include "bench/load/options.hpp"
#include "bench/load/report_line.hpp"

namespace tafel::bench {
namespace {

namespace po = boost::program_options;

struct Common {
  Settings settings;
  pid_t server = 0;
  bool is_json = false;
};

po::options_description common_options(Common& common) {
  Settings& settings = common.settings;
  Shape& shape = settings.shape;
  po::options_description options("The load");
  options.add_options()("help", "print this")                                                                      //
      ("agents", po::value(&shape.agents)->default_value(1), "connections that write")                             //
      ("depth", po::value(&shape.depth)->default_value(1), "updates of an agent on their way")                     //
      ("subs", po::value(&shape.subscribers)->default_value(1), "connections that follow every board")             //
      ("boards", po::value(&shape.boards)->default_value(1), "boards; agents are dealt out over them")             //
      ("elements", po::value(&settings.elements)->default_value(1000), "in the set of each board before the run")  //
      ("spread", po::bool_switch(&settings.is_spread), "draw names from all elements, not from 1,000")             //
      ("secs", po::value(&settings.seconds)->default_value(5), "the window that is measured")                      //
      ("warmup", po::value(&settings.warmup_seconds)->default_value(1), "before it")                               //
      ("seed", po::value(&settings.seed)->default_value(1), "of what the agents write")                            //
      ("server-pid", po::value(&common.server)->default_value(0), "measure this process and its children")         //
      ("json", po::bool_switch(&common.is_json), "one line of JSON");
  return options;
}

std::optional<std::string> defect(const Settings& settings) {
  const Shape& shape = settings.shape;
  if (shape.agents == 0 || shape.depth == 0) return "at least one agent and a depth of one";
  if (shape.boards == 0 || shape.boards > shape.agents) return "at least one board, and an agent for each";
  if (!(settings.seconds > 0) || !(settings.warmup_seconds >= 0)) return "--secs above 0, --warmup from 0";
  if (settings.is_spread && settings.elements < 2) return "--spread wants at least two --elements";
  return std::nullopt;
}

int complain(const CommandLine& command, int code, const std::string& message) {
  std::cerr << command.program << ": " << message << '\n';
  return code;
}

int run(const CommandLine& command, Common& common) {
  Settings& settings = common.settings;
  if (common.server > 0) settings.server = common.server;
  if (const auto wrong = defect(settings)) return complain(command, 2, *wrong);
  auto peer = command.make_peer(settings);
  if (!peer) return complain(command, peer.error().fault == Fault::bad_config ? 2 : 1, peer.error().message);
  const std::string name = (*peer)->name();
  std::cerr << fmt::format("{}: {} agents x {}, {} subscribers, {} elements, {:g} s after {:g} s\n", name,
                           settings.shape.agents, settings.shape.depth, settings.shape.subscribers, settings.elements,
                           settings.seconds, settings.warmup_seconds);
  const auto outcome = run_load(**peer, settings);
  if (!outcome) return complain(command, 1, outcome.error().message);
  const std::string words = plain_line(name, settings, *outcome);
  if (common.is_json) {
    std::cerr << words << '\n';
    std::cout << json_line(name, settings, *outcome) << '\n';
  } else {
    std::cout << words << '\n';
  }
  return outcome->is_right(settings.shape) ? 0 : 1;
}

}  // namespace

int run_command(CommandLine& command, int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  Common common;
  po::options_description described(command.about);
  described.add(command.own_options).add(common_options(common));
  if (const auto code = read_options(command.program, described, argc, argv)) return *code;
  return run(command, common);
}

}  // namespace tafel::bench
