// How large the data file gets against what it must hold, when a few fields are overwritten with texts of any size.
//
//   tafel_size_bench --data DIR                  the whole history is kept
//   tafel_size_bench --data DIR --retain 1000    so many versions are
//
// The whole server runs in this process, behind its own SDK. An overwrite is one delta of 1 to 60 kB, in two halves, as
// a single value has at most 32 KiB. Measured when the last receipt is there, what is not to be kept has gone, and the
// server has stopped.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <chrono>
#include <deque>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <thread>

#include "agents_sdk/embedded/embedded.hpp"
#include "bench/load/options.hpp"
#include "blackboard/store/disk.hpp"
#include "blackboard/store/store.hpp"
#include "common/base/random.hpp"
#include "common/codec/delta_codec.hpp"
#include "common/model/cell.hpp"

namespace tafel::bench {
namespace {

const std::string board = "bench/documents";
constexpr std::size_t bytes_min = 1000;
constexpr std::size_t bytes_max = 60'000;

struct Options {
  std::string data;
  std::size_t overwrites = 0;
  std::size_t fields = 0;
  std::size_t in_flight = 0;
  std::size_t retain = 0;  // 0: everything
};

std::string random_text(std::size_t bytes, std::mt19937_64& dice) {
  std::string text(bytes, ' ');
  for (char& letter : text) letter = static_cast<char>('a' + dice() % 26);
  return text;
}

// The version that the delta made.
Result<Version> version_of(const sdk::Ticket& ticket) {
  const auto receipt = ticket.wait(sdk::milliseconds(60'000));
  if (!receipt) return tl::unexpected(receipt.error());
  if (receipt->error) return fail(Fault::refused, receipt->error->message);
  return receipt->version;
}

// Says how many versions are to be kept.
Result<Version> retain(sdk::Agent& agent, std::size_t versions) {
  auto delta = codec::delta_from_json(
      fmt::format(R"({{"ops": [{{"op": "retain", "path": "$retention", "value": {{"versions": {}}}}}]}})", versions));
  if (!delta) return fail(Fault::refused, delta.error().message);
  delta->board = board;
  return version_of(agent.submit(*delta));
}

// Waits until the board can not be read any more as it was so long ago: at most a sixteenth more than asked is kept.
Result<void> wait_for_floor(sdk::Agent& agent, Version newest, std::size_t versions) {
  constexpr int tries = 6000;
  const Version kept = versions + versions / 16 + 1;
  if (newest <= kept) return {};
  const Map question{{"what", "get"}, {"board", board}, {"path", "document0.first"}, {"at", newest - kept}};
  for (int i = 0; i < tries; ++i) {
    const auto answer = agent.query(question);
    if (!answer && answer.error().fault == Fault::refused) return {};
    if (!answer) return tl::unexpected(answer.error());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return fail(Fault::busy, "old versions are still there");
}

// The bytes of all values written.
Result<std::uint64_t> write(const Options& options) {
  const auto server = sdk::Embedded::open({options.data});
  if (!server) return tl::unexpected(server.error());
  const auto agent = (*server)->connect("writer");
  if (!agent) return tl::unexpected(agent.error());
  if (options.retain > 0) {
    if (auto told = retain(**agent, options.retain); !told) return tl::unexpected(told.error());
  }
  std::mt19937_64 dice(1);
  std::deque<sdk::Ticket> waiting;
  std::uint64_t written = 0;
  Version newest = 0;
  for (std::size_t i = 0; i < options.overwrites || !waiting.empty();) {
    for (; i < options.overwrites && waiting.size() < options.in_flight; ++i) {
      const std::size_t bytes = bytes_min + dice() % (bytes_max - bytes_min + 1);
      const std::string path = fmt::format("document{}", dice() % options.fields);
      const sdk::DeltaBuilder delta = sdk::DeltaBuilder()
                                          .set(path + ".first", random_text(bytes / 2, dice))
                                          .set(path + ".second", random_text(bytes - bytes / 2, dice));
      waiting.push_back((*agent)->submit(board, delta));
      written += bytes;
    }
    const auto version = version_of(waiting.front());
    if (!version) return tl::unexpected(version.error());
    newest = *version;
    waiting.pop_front();
  }
  if (options.retain > 0) {
    if (auto gone = wait_for_floor(**agent, newest, options.retain); !gone) return tl::unexpected(gone.error());
  }
  return written;
}

struct Holding {
  std::uint64_t live = 0;      // bytes of the cells
  std::uint64_t retained = 0;  // of the events that are kept
  std::uint64_t versions = 0;  // how many these are
  std::uint64_t receipts = 0;  // bytes of what remembers the receipts, which outlive their events
  std::uint64_t in_use = 0;    // of the file, free pages not counted
};

Result<std::uint64_t> bytes_in(store::Kv& kv, store::Table table) {
  const auto read = kv.read();
  if (!read) return tl::unexpected(read.error());
  std::uint64_t bytes = 0;
  const auto scanned = (*read)->scan(table, {}, [&](std::string_view key, std::string_view value) {
    bytes += key.size() + value.size();
    return true;
  });
  if (!scanned) return tl::unexpected(scanned.error());
  return bytes;
}

Result<Holding> holding(const std::filesystem::path& data) {
  store::LmdbOptions options;
  options.directory = data;
  auto kv = store::open_disk_reader(options);
  if (!kv) return tl::unexpected(kv.error());
  Holding held;
  for (const store::Table table : {store::Table::receipts, store::Table::receipt_queue}) {
    const auto bytes = bytes_in(**kv, table);
    if (!bytes) return tl::unexpected(bytes.error());
    held.receipts += *bytes;
  }
  SystemRandom random;
  const auto store = store::Store::open(std::move(*kv), random);
  if (!store) return tl::unexpected(store.error());
  const auto snapshot = (*store)->snapshot();
  if (!snapshot) return tl::unexpected(snapshot.error());
  const auto head = (*snapshot)->head(board);
  if (!head) return tl::unexpected(head.error());
  if (!*head) return fail(Fault::not_found, "nothing was written");
  constexpr std::size_t page = 1024 * 1024;
  std::string cursor;
  do {
    const auto cells = (*snapshot)->cells(board, std::nullopt, cursor, page);
    if (!cells) return tl::unexpected(cells.error());
    for (const Change& cell : cells->cells) {
      std::string bytes;
      PackWriter out(bytes);
      ExactSink values;
      write_cell_key(out, cell.key);
      write_cell(out, *cell.image, values);
      held.live += bytes.size();
    }
    cursor = cells->next;
  } while (!cursor.empty());
  for (Version version = (*head)->floor; version < (*head)->version;) {
    const auto records = (*snapshot)->event_records(board, version + 1, (*head)->version, page);
    if (!records) return tl::unexpected(records.error());
    for (const std::string& record : *records) held.retained += record.size();
    held.versions += records->size();
    version += records->size();
  }
  const auto usage = (*store)->usage();
  if (!usage) return tl::unexpected(usage.error());
  held.in_use = usage->bytes;
  return held;
}

Result<void> run(const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const auto written = write(options);
  if (!written) return tl::unexpected(written.error());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto held = holding(options.data);
  if (!held) return tl::unexpected(held.error());
  const std::uint64_t file = std::filesystem::file_size(std::filesystem::path(options.data) / "store" / "data.mdb");
  const auto mb = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  std::cout << "| retention | overwrites | values written, MB | versions kept | their events, MB | live, MB | "
               "receipts, MB | file, MB | of it in use, MB | file / (live + events kept) | seconds |\n"
               "|---|---|---|---|---|---|---|---|---|---|---|\n"
            << fmt::format("| {} | {} | {:.0f} | {} | {:.1f} | {:.2f} | {:.1f} | {:.1f} | {:.1f} | {:.2f} | {:.0f} |\n",
                           options.retain == 0 ? "all" : fmt::format("{} versions", options.retain), options.overwrites,
                           mb(*written), held->versions, mb(held->retained), mb(held->live), mb(held->receipts),
                           mb(file), mb(held->in_use), mb(file) / mb(held->live + held->retained), seconds);
  return {};
}

}  // namespace
}  // namespace tafel::bench

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  tafel::bench::Options options;
  po::options_description described("The size of the data file against what it holds");
  described.add_options()("help", "print this")                                                      //
      ("data", po::value(&options.data)->required(), "a data directory that is not there yet")       //
      ("overwrites", po::value(&options.overwrites)->default_value(20'000), "deltas of 1 to 60 kB")  //
      ("fields", po::value(&options.fields)->default_value(8), "documents that they go to")          //
      ("in-flight", po::value(&options.in_flight)->default_value(32), "deltas on their way")         //
      ("retain", po::value(&options.retain)->default_value(0), "versions of history to keep; 0: all of them");
  if (const auto code = tafel::bench::read_options("tafel_size_bench", described, argc, argv)) return *code;
  if (options.overwrites == 0 || options.fields == 0 || options.in_flight == 0) {
    std::cerr << "tafel_size_bench: at least one overwrite, field and delta on its way\n";
    return 2;
  }
  if (std::filesystem::exists(options.data)) {
    std::cerr << "tafel_size_bench: " << options.data << " is there already\n";
    return 2;
  }
  const auto done = tafel::bench::run(options);
  if (!done) std::cerr << "tafel_size_bench: " << done.error().message << '\n';
  return done ? 0 : 1;
}
