// What questions about the past cost on a board with a long history, against one with a short history: look-ups in the
// key–value store, and the time of the whole answer (no socket).
//
//   tafel_history_bench --data DIR --versions 1000000 --fields 100000
//
// Four boards in two stores: many fields with --versions and with 1,000 versions, and one field that was written so
// often. The fields of the short board have as many writes each as those of the long one. A board that is there already
// is used as it is. Questions go to both boards in turn, at random fields and versions; each answer is compared with
// what was written.
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <random>
#include <vector>

#include "bench/history_questions.hpp"
#include "bench/load/options.hpp"
#include "blackboard/store/disk.hpp"
#include "common/base/random.hpp"

namespace tafel::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Version short_versions = 1000;

struct Options {
  std::string data;
  Version versions = 0;
  std::size_t fields = 0;
  std::size_t batch = 0;
  std::size_t pairs = 0;
};

double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

// A store on LMDB that counts.
struct Place {
  LookUps look_ups = 0;
  SystemRandom random;
  std::unique_ptr<store::Store> store;

  Result<void> open(const std::filesystem::path& directory) {
    store::LmdbOptions options;
    options.directory = directory;
    auto kv = store::open_disk(options, random);
    if (!kv) return tl::unexpected(kv.error());
    auto opened = store::Store::open(std::make_unique<CountingKv>(std::move(*kv), look_ups), random);
    if (!opened) return tl::unexpected(opened.error());
    store = std::move(*opened);
    return {};
  }
};

// What one kind of question cost on one board.
struct Costs {
  std::vector<double> us;
  std::vector<LookUps> look_ups;

  template <class T>
  static T percentile(std::vector<T> values, double part) {
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, static_cast<std::size_t>(part * static_cast<double>(values.size())))];
  }
};

class Bench {
 public:
  explicit Bench(Options options) : options_(std::move(options)), dice_(1) {}

  Result<bool> run() {
    const std::filesystem::path data = options_.data;
    if (auto opened = long_.open(data / "long"); !opened) return tl::unexpected(opened.error());
    if (auto opened = short_.open(data / "short"); !opened) return tl::unexpected(opened.error());
    const std::size_t writes = options_.versions / options_.fields;
    const HistoryBoard many("bench/many", options_.versions, options_.fields);
    const HistoryBoard few("bench/few", short_versions, std::max<std::size_t>(1, short_versions / writes));
    const HistoryBoard hot("bench/hot", options_.versions, 1);
    const HistoryBoard warm("bench/warm", short_versions, 1);
    for (const HistoryBoard* board : {&many, &hot}) {
      if (auto built = build(long_, *board); !built) return tl::unexpected(built.error());
    }
    for (const HistoryBoard* board : {&few, &warm}) {
      if (auto built = build(short_, *board); !built) return tl::unexpected(built.error());
    }
    std::cout << "\n| question | board | median µs, short | median µs, long | ratio | p99 µs, short | p99 µs, long | "
                 "look-ups, short: median, most | long: median, most |\n"
                 "|---|---|---|---|---|---|---|---|---|\n";
    for (const About about : all_questions) {
      if (!compare(about, few, many) || !compare(about, warm, hot)) return false;
    }
    return true;
  }

 private:
  Result<void> build(Place& place, const HistoryBoard& board) {
    const auto begin = SteadyClock::now();
    if (auto built = board.build(*place.store, options_.batch); !built) return built;
    const auto usage = place.store->usage();
    if (!usage) return tl::unexpected(usage.error());
    std::cout << fmt::format("{}: {} versions of {} fields, {:.1f} s, the store has {:.0f} MB\n", board.id(),
                             board.versions(), board.fields(), seconds_since(begin),
                             static_cast<double>(usage->bytes) / 1e6)
              << std::flush;
    return {};
  }

  // False, with a word why, when an answer is wrong or takes more look-ups than it may.
  bool ask(About about, Place& place, const HistoryBoard& board, Costs& costs) {
    const Asked asked = random_question(about, board, dice_);
    place.look_ups = 0;
    const auto begin = SteadyClock::now();
    const broker::Answer answer = answer_of(*place.store, asked);
    const auto end = SteadyClock::now();
    costs.us.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
    costs.look_ups.push_back(place.look_ups);
    const LookUps allowed = look_ups_allowed(board, asked);
    const bool is_fine = is_right(board, asked, answer) && place.look_ups <= allowed;
    if (!is_fine) {
      std::cerr << fmt::format(
          "tafel_history_bench: {} of {} on {} at {}: a wrong answer, or {} look-ups, allowed {}\n", name_of(about),
          HistoryBoard::path_of(asked.field), board.id(), asked.version, place.look_ups, allowed);
    }
    return is_fine;
  }

  bool compare(About about, const HistoryBoard& small, const HistoryBoard& large) {
    const bool is_page = about == About::history || about == About::history_before;
    const std::size_t pairs = is_page ? std::max<std::size_t>(options_.pairs / 10, 1) : options_.pairs;
    Costs short_costs;
    Costs long_costs;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      const auto ask_short = [&] { return ask(about, short_, small, short_costs); };
      const auto ask_long = [&] { return ask(about, long_, large, long_costs); };
      const bool is_fine = pair % 2 == 0 ? ask_short() && ask_long() : ask_long() && ask_short();
      if (!is_fine) return false;
    }
    print(about, large, short_costs, long_costs);
    return true;
  }

  static void print(About about, const HistoryBoard& large, const Costs& small, const Costs& big) {
    const double short_us = Costs::percentile(small.us, 0.5);
    const double long_us = Costs::percentile(big.us, 0.5);
    std::cout << fmt::format("| `{}` | {} | {:.0f} | {:.0f} | {:.2f} | {:.0f} | {:.0f} | {}, {} | {}, {} |\n",
                             name_of(about), large.fields() == 1 ? "one field" : "many fields", short_us, long_us,
                             long_us / short_us, Costs::percentile(small.us, 0.99), Costs::percentile(big.us, 0.99),
                             Costs::percentile(small.look_ups, 0.5), Costs::percentile(small.look_ups, 1),
                             Costs::percentile(big.look_ups, 0.5), Costs::percentile(big.look_ups, 1))
              << std::flush;
  }

  const Options options_;
  std::mt19937_64 dice_;
  Place short_;
  Place long_;
};

int run(const Options& options) {
  if (options.fields == 0 || options.versions < options.fields || options.batch == 0 || options.pairs == 0) {
    std::cerr << "tafel_history_bench: at least one field, as many versions as fields, a batch and a pair\n";
    return 2;
  }
  const auto done = Bench(options).run();
  if (!done) std::cerr << "tafel_history_bench: " << done.error().message << '\n';
  return done && *done ? 0 : 1;
}

}  // namespace
}  // namespace tafel::bench

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  tafel::bench::Options options;
  po::options_description described("What questions about the past cost");
  described.add_options()("help", "print this")                                                            //
      ("data", po::value(&options.data)->required(), "directory for the stores")                           //
      ("versions", po::value(&options.versions)->default_value(1'000'000), "versions of the long boards")  //
      ("fields", po::value(&options.fields)->default_value(100'000), "fields of the one with many")        //
      ("batch", po::value(&options.batch)->default_value(500), "versions with one sync")                   //
      ("pairs", po::value(&options.pairs)->default_value(5000), "questions of a kind to each board; a tenth for pages");
  if (const auto code = tafel::bench::read_options("tafel_history_bench", described, argc, argv)) return *code;
  return tafel::bench::run(options);
}
