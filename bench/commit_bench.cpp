// Committed deltas per second and the time to a receipt, through the real SDK, sockets, broker and LMDB.
//
//   tafel_bench --server tcp://127.0.0.1:7117 --agents 8 --in-flight 32 --seconds 5
//
// A delta adds one and removes one of 1,000 names in a set and sets one of 100 fields. Each agent is a connection and a
// thread of its own.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/program_options.hpp>
#include <chrono>
#include <deque>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include "agents_sdk/cpp/agent.hpp"

namespace tafel {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Options {
  std::string server;
  std::string board;
  std::size_t agents = 1;
  std::size_t in_flight = 1;
  int seconds = 5;
};

struct Tally {
  std::uint64_t receipts = 0;
  std::uint64_t errors = 0;
  std::vector<double> latencies_us;
};

sdk::DeltaBuilder next_delta(std::mt19937& dice) {
  const auto name = [&] { return Value(fmt::format("target-{:05}", dice() % 1000)); };
  return sdk::DeltaBuilder()
      .add("targets", {name()})
      .remove("targets", {name()})
      .set(fmt::format("field.{:02}", dice() % 100), fmt::format("value-{:010}", dice()));
}

// One agent: keeps `in_flight` deltas on their way until the time is over.
Tally run_agent(const Options& options, std::size_t number, const std::atomic<bool>& stop) {
  Tally tally;
  auto agent = sdk::Agent::connect({.server = options.server, .actor = fmt::format("bench-{}", number)});
  if (!agent) {
    std::cerr << "tafel_bench: " << agent.error().message << '\n';
    tally.errors = 1;
    return tally;
  }
  std::mt19937 dice(static_cast<std::mt19937::result_type>(number));
  std::deque<std::pair<sdk::Ticket, SteadyClock::time_point>> waiting;
  while (!stop || !waiting.empty()) {
    while (!stop && waiting.size() < options.in_flight) {
      const auto begin = SteadyClock::now();
      waiting.emplace_back((*agent)->submit(options.board, next_delta(dice)), begin);
    }
    if (waiting.empty()) break;
    const auto receipt = waiting.front().first.wait(sdk::milliseconds(30000));
    ++tally.receipts;
    if (!receipt || receipt->error) ++tally.errors;
    tally.latencies_us.push_back(
        std::chrono::duration<double, std::micro>(SteadyClock::now() - waiting.front().second).count());
    waiting.pop_front();
  }
  return tally;
}

double percentile(std::vector<double>& sorted, double part) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(part * static_cast<double>(sorted.size())))];
}

int run(const Options& options) {
  std::atomic<bool> stop = false;
  std::vector<Tally> tallies(options.agents);
  const auto begin = SteadyClock::now();
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < options.agents; ++i) {
      threads.emplace_back([&, i] { tallies[i] = run_agent(options, i, stop); });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1000 * options.seconds));
    stop = true;
  }
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  Tally all;
  for (Tally& tally : tallies) {
    all.receipts += tally.receipts;
    all.errors += tally.errors;
    all.latencies_us.insert(all.latencies_us.end(), tally.latencies_us.begin(), tally.latencies_us.end());
  }
  std::sort(all.latencies_us.begin(), all.latencies_us.end());
  std::cout << fmt::format(
      "agents {} in_flight {} deltas {} errors {} per_second {:.0f} receipt_p50_ms {:.2f} receipt_p99_ms {:.2f}\n",
      options.agents, options.in_flight, all.receipts, all.errors, static_cast<double>(all.receipts) / seconds,
      percentile(all.latencies_us, 0.5) / 1000, percentile(all.latencies_us, 0.99) / 1000);
  return all.errors == 0 && all.receipts > 0 ? 0 : 1;
}

}  // namespace
}  // namespace tafel

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  tafel::Options options;
  po::options_description described("Committed deltas per second on a running tafeld");
  described.add_options()("help", "print this")                                                          //
      ("server", po::value(&options.server)->default_value("tcp://127.0.0.1:7117"), "request endpoint")  //
      ("board", po::value(&options.board)->default_value("bench/board"), "board")                        //
      ("agents", po::value(&options.agents)->default_value(1), "connections, a thread each")             //
      ("in-flight", po::value(&options.in_flight)->default_value(1), "deltas of an agent on their way")  //
      ("seconds", po::value(&options.seconds)->default_value(5), "for how long");
  try {
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, described), given);
    po::notify(given);
    if (given.contains("help")) {
      std::cout << described;
      return 0;
    }
  } catch (const po::error& error) {
    std::cerr << "tafel_bench: " << error.what() << '\n';
    return 2;
  }
  return tafel::run(options);
}
