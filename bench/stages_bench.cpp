// What deltas cost the commit thread and the feed, without sockets, disk and chance: the same instructions in each run.
// Prints the time; under callgrind it tells the instructions of each stage (bench/instructions.py).
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/load/options.hpp"
#include "bench/tafel/messages.hpp"
#include "blackboard/store/memory_kv.hpp"
#include "broker/request_service.hpp"
#include "common/base/check.hpp"
#include "common/codec/event_codec.hpp"

namespace {

using namespace tafel;
using Clock = std::chrono::steady_clock;

constexpr std::string_view run_id = "run";
constexpr const char* board = "acme/bench";
constexpr TimeMs now = 1'700'000'000'000;

struct Shape {
  std::uint64_t deltas = 0;
  std::uint64_t batch = 0;  // deltas in one commit, one message each; all of a batch have the base before it
};

class Commits {
 public:
  explicit Commits(const Shape& shape) : shape_(shape) {
    auto opened = store::Store::open(store::open_memory(store::make_memory_disk()), random_);
    TAFEL_CHECK(opened.has_value(), "an empty memory is a new store");
    store_ = std::move(*opened);
    pipeline_ = std::make_unique<broker::Pipeline>(*store_, roles_);
    codec::Welcome welcome;
    welcome.epoch = store_->epoch();
    service_ = std::make_unique<broker::RequestService>(*pipeline_, welcome);
    codec::Hello hello;
    hello.actor = "agent";
    send({codec::encode_message({std::string(codec::message::hello), 1, codec::to_value(hello)})});
    preload();
  }

  // Nanoseconds a delta.
  double run() {
    std::uint64_t bytes = 0;
    const auto begin = Clock::now();
    for (std::uint64_t done = 0; done < shape_.deltas; done += shape_.batch) {
      std::vector<std::string> messages;
      for (std::uint64_t i = 0; i < shape_.batch; ++i) messages.push_back(next_message());
      const auto turn = send(std::move(messages));
      for (const auto& event : turn.events) bytes += codec::encode_feed_event(codec::feed_event_of(*event)).size();
      TAFEL_CHECK(turn.answers.size() == shape_.batch, "each message is answered");
    }
    const double ns = static_cast<double>(std::chrono::nanoseconds(Clock::now() - begin).count());
    TAFEL_CHECK(bytes > 0, "the deltas changed something");
    return ns / static_cast<double>(shape_.deltas);
  }

 private:
  broker::RequestService::Turn send(std::vector<std::string> messages) {
    std::vector<broker::Inbound> inbound;
    for (std::string& message : messages) inbound.push_back({peer_, std::move(message)});
    auto turn = service_->handle(inbound, now, 0);
    TAFEL_CHECK(!turn.fatal, "memory does not fail");
    if (!turn.events.empty()) version_ = turn.events.back()->version;
    return turn;
  }

  void preload() {
    constexpr std::uint64_t at_once = 500;
    for (std::uint64_t first = 0; first < bench::hot_elements; first += at_once) {
      send({codec::encode_submit_message(
          2, {bench::preload_delta(board, "preload-" + std::to_string(first), first, at_once)})});
    }
  }

  std::string next_message() {
    std::string delta;
    bench::write_delta(delta, run_id, board, version_, updates_.next());
    return codec::encode_submit_message(3, {delta});
  }

  Shape shape_;
  SeededRandom random_{7};
  RoleTable roles_;
  broker::PeerId peer_{"peer"};
  bench::Updates updates_{1, bench::hot_elements};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<broker::Pipeline> pipeline_;
  std::unique_ptr<broker::RequestService> service_;
  Version version_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  Shape shape;
  po::options_description options("What a delta costs without sockets and disk");
  options.add_options()("help", "this text")                                                  //
      ("deltas", po::value(&shape.deltas)->default_value(20'000), "deltas, after a preload")  //
      ("batch", po::value(&shape.batch)->default_value(500), "deltas in one commit");
  if (const auto code = bench::read_options("tafel_stages_bench", options, argc, argv)) return *code;
  if (shape.batch == 0 || shape.deltas % shape.batch != 0) {
    fmt::print(stderr, "tafel_stages_bench: --deltas must be a multiple of --batch\n");
    return 2;
  }
  fmt::print("{:.0f} ns a delta\n", Commits(shape).run());
  return EXIT_SUCCESS;
}
