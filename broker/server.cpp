#include "broker/server.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "blackboard/store/backup.hpp"
#include "blackboard/store/disk.hpp"
#include "blackboard/store/erasure_ledger.hpp"
#include "blackboard/store/store.hpp"
#include "broker/endpoints.hpp"
#include "broker/erasure_replay.hpp"
#include "broker/log.hpp"
#include "broker/loops.hpp"
#include "broker/pipeline.hpp"
#include "common/base/limits.hpp"

namespace tafel::broker {
namespace {

constexpr std::int64_t heartbeat_ms_max = 60'000;

std::int64_t steady_now_ms() { return SystemClock().steady_ms(); }

Value list_of(const std::vector<std::string>& texts) { return List(texts.begin(), texts.end()); }

struct Sockets {
  std::unique_ptr<net::Router> request;
  std::unique_ptr<net::Router> query;
  std::unique_ptr<net::Router> feed;
  std::unique_ptr<net::Publisher> open_feed;  // null: not offered
};

class RunningServer final : public Server {
 public:
  RunningServer(ServerOptions options, std::shared_ptr<net::Context> context)
      : options_(std::move(options)), context_(std::move(context)) {}
  ~RunningServer() override { static_cast<void>(stop()); }

  Result<void> open();  // once, before anything else

  const Endpoints& endpoints() const override { return endpoints_; }
  const std::string& epoch() const override { return epoch_; }
  Result<void> stop() override;
  Result<void> wait() override;

 private:
  Result<void> check_options();
  Result<void> prepare_store();
  Result<void> open_store(bool renews_epoch);
  Result<void> compact_store();
  Result<void> carry_out_erasures();
  Result<Sockets> bind();
  Result<std::unique_ptr<net::Router>> bind_router(const std::vector<std::string>& endpoints, int send_queue);
  codec::Welcome welcome() const;
  void start(Sockets sockets);
  void start_thread(Loop& loop, std::function<void()> at_end);
  void on_fatal(const Failure& failure);
  Value counters_value() const;

  ServerOptions options_;
  std::shared_ptr<net::Context> context_;
  Endpoints endpoints_;
  std::string epoch_;
  SystemClock clock_;
  SystemRandom random_;
  std::int64_t started_ms_ = 0;

  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Pipeline> pipeline_;
  FeedQueue queue_;
  Counters counters_;
  std::unique_ptr<CommitLoop> commit_;
  std::unique_ptr<QueryLoop> query_;
  std::unique_ptr<FeedLoop> feed_;

  std::mutex mutex_;  // guards running_ and failure_: any thread may wait for the end of the others
  std::condition_variable ended_;
  std::size_t running_ = 0;
  std::optional<Failure> failure_;
  std::mutex closing_;  // guards the threads themselves and what `stop` takes apart: several threads may stop at once
  std::vector<std::thread> threads_;
};

Result<void> RunningServer::open() {
  if (auto checked = check_options(); !checked) return checked;
  // The store first: its lock says whether this server may exist at all.
  if (auto opened = prepare_store(); !opened) return opened;
  auto sockets = bind();
  if (!sockets) return tl::unexpected(sockets.error());
  start(std::move(*sockets));
  return {};
}

Result<void> RunningServer::check_options() {
  if (options_.listen.empty()) return fail(Fault::bad_config, "a server needs at least one endpoint to listen on");
  if (options_.heartbeat_ms < 1 || options_.heartbeat_ms > heartbeat_ms_max) {
    return fail(Fault::bad_config, "the heartbeat is 1 to " + std::to_string(heartbeat_ms_max) + " ms apart, not " +
                                       std::to_string(options_.heartbeat_ms));
  }
  if (options_.query_listen.empty()) options_.query_listen = endpoint_beside(options_.listen, "query");
  if (options_.feed_listen.empty()) options_.feed_listen = endpoint_beside(options_.listen, "feed");
  std::vector<std::string> all = options_.listen;
  all.insert(all.end(), {options_.query_listen, options_.feed_listen});
  if (!options_.open_feed_listen.empty()) all.push_back(options_.open_feed_listen);
  for (const std::string& endpoint : all) {
    if (auto defect = endpoint_defect(endpoint, options_.allow_inproc))
      return fail(Fault::bad_config, std::move(*defect));
  }
  return {};
}

// With the store closed: nobody else may look at its files meanwhile.
Result<void> RunningServer::compact_store() {
  const auto report = store::compact(options_.data, random_);
  if (!report) return tl::unexpected(report.error());
  log(LogLevel::info, "compacted",
      {{"versions", report->counts.versions}, {"before", report->bytes_before}, {"after", report->bytes_after}});
  return {};
}

Result<void> RunningServer::carry_out_erasures() {
  if (options_.erasures.empty()) return {};
  auto ledger = store::read_ledger(options_.erasures);
  if (!ledger) return fail(Fault::bad_config, ledger.error().message);
  const auto replayed = replay_erasures(*store_, std::move(*ledger), clock_.wall_ms());
  if (!replayed) return tl::unexpected(replayed.error());
  const bool is_of_others = replayed->skipped > 0 && replayed->carried_out + replayed->known == 0;
  if (is_of_others)
    log(LogLevel::warn, "erasures_of_other_boards", {{"message", "no board of the ledger is in this data directory"}});
  log(LogLevel::info, "erasures_carried_out",
      {{"carried_out", replayed->carried_out}, {"known", replayed->known}, {"skipped", replayed->skipped}});
  return {};
}

Result<void> RunningServer::prepare_store() {
  if (auto opened = open_store(options_.renews_epoch); !opened) return opened;
  if (auto carried_out = carry_out_erasures(); !carried_out) return carried_out;
  if (!options_.compacts) return {};
  store_.reset();  // last, so that nothing is left of what was just erased
  if (auto compacted = compact_store(); !compacted) return compacted;
  return open_store(false);
}

Result<void> RunningServer::open_store(bool renews_epoch) {
  store::LmdbOptions disk;
  disk.directory = options_.data;
  disk.quota_bytes = options_.quota_bytes;
  auto kv = store::open_disk(disk, random_);
  if (!kv) return tl::unexpected(kv.error());
  if (renews_epoch) {
    if (auto renewed = store::renew_epoch(**kv, random_); !renewed) return renewed;
  }
  auto opened = store::Store::open(std::move(*kv), random_);
  if (!opened) return tl::unexpected(opened.error());
  store_ = std::move(*opened);
  epoch_ = store_->epoch();
  return {};
}

Result<Sockets> RunningServer::bind() {
  auto request = bind_router(options_.listen, limits::request_send_queue);
  if (!request) return tl::unexpected(request.error());
  auto query = bind_router({options_.query_listen}, limits::query_send_queue);
  if (!query) return tl::unexpected(query.error());
  auto feed = bind_router({options_.feed_listen}, limits::feed_send_queue);
  if (!feed) return tl::unexpected(feed.error());
  Sockets sockets{std::move(*request), std::move(*query), std::move(*feed), nullptr};
  endpoints_ = {
      sockets.request->endpoints(), sockets.query->endpoints().front(), sockets.feed->endpoints().front(), {}};
  if (options_.open_feed_listen.empty()) return sockets;
  auto open_feed = net::Publisher::bind(*context_, with_address(options_.open_feed_listen));
  if (!open_feed) return tl::unexpected(open_feed.error());
  sockets.open_feed = std::move(*open_feed);
  endpoints_.open_feed = sockets.open_feed->endpoint();
  return sockets;
}

Result<std::unique_ptr<net::Router>> RunningServer::bind_router(const std::vector<std::string>& endpoints,
                                                                int send_queue) {
  std::vector<std::string> addresses;
  for (const std::string& endpoint : endpoints) addresses.push_back(with_address(endpoint));
  net::RouterOptions router;
  router.message_bytes_max = limits::request_bytes_max;
  router.send_queue = send_queue;
  return net::Router::bind(*context_, addresses, router);
}

codec::Welcome RunningServer::welcome() const {
  codec::Welcome welcome;
  welcome.server = std::string("tafeld ") + TAFEL_VERSION;
  welcome.epoch = epoch_;
  welcome.query_endpoint = endpoints_.query;
  welcome.feed_endpoint = endpoints_.feed;
  welcome.open_feed_endpoint = endpoints_.open_feed;
  welcome.request_bytes_max = limits::request_bytes_max;
  welcome.heartbeat_ms = options_.heartbeat_ms;
  return welcome;
}

void RunningServer::start(Sockets sockets) {
  started_ms_ = steady_now_ms();
  pipeline_ = std::make_unique<Pipeline>(*store_, options_.roles, nullptr, options_.retention);
  feed_ = std::make_unique<FeedLoop>(clock_, std::move(sockets.feed), std::move(sockets.open_feed),
                                     FeedService(*store_, options_.roles, welcome()), queue_, counters_,
                                     options_.heartbeat_ms);
  query_ = std::make_unique<QueryLoop>(
      clock_, std::move(sockets.query),
      QueryService(*store_, options_.roles, welcome(), [this] { return counters_value(); }));
  commit_ = std::make_unique<CommitLoop>(
      clock_, std::move(sockets.request), RequestService(*pipeline_, welcome()), queue_, [this] { feed_->wake(); },
      counters_, [this](const Failure& failure) { on_fatal(failure); });
  running_ = 3;
  start_thread(*query_, [] {});
  start_thread(*feed_, [] {});
  // The others outlive it, so that its last events go out; whatever ended it ends them.
  start_thread(*commit_, [this] {
    query_->ask_to_stop();
    feed_->ask_to_stop();
  });
  log(LogLevel::info, "started",
      {{"data", options_.data.string()},
       {"epoch", epoch_},
       {"request", list_of(endpoints_.request)},
       {"query", endpoints_.query},
       {"feed", endpoints_.feed},
       {"open_feed", endpoints_.open_feed}});
}

void RunningServer::start_thread(Loop& loop, std::function<void()> at_end) {
  threads_.emplace_back([this, &loop, at_end = std::move(at_end)] {
    loop.run();
    at_end();
    const std::lock_guard lock(mutex_);
    --running_;
    ended_.notify_all();
  });
}

void RunningServer::on_fatal(const Failure& failure) {
  log(LogLevel::error, "store_failed", {{"fault", fault_name(failure.fault)}, {"message", failure.message}});
  {
    const std::lock_guard lock(mutex_);
    failure_ = failure;
  }
  commit_->ask_to_stop();
}

Value RunningServer::counters_value() const {
  Value counters = counters_.to_value();
  counters.set("server", std::string("tafeld ") + TAFEL_VERSION);
  counters.set("epoch", epoch_);
  counters.set("uptime_ms", steady_now_ms() - started_ms_);
  return counters;
}

Result<void> RunningServer::wait() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return running_ == 0; });
  if (failure_) return tl::unexpected(*failure_);
  return {};
}

Result<void> RunningServer::stop() {
  const std::lock_guard closing(closing_);
  if (commit_) commit_->ask_to_stop();
  auto outcome = wait();
  if (threads_.empty()) return outcome;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  commit_.reset();
  query_.reset();
  feed_.reset();
  pipeline_.reset();
  store_.reset();
  log(LogLevel::info, "stopped", {{"failed", !outcome.has_value()}});
  return outcome;
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, std::shared_ptr<net::Context> context) {
  if (!context) context = std::make_shared<net::Context>();
  auto server = std::make_unique<RunningServer>(std::move(options), std::move(context));
  if (auto opened = server->open(); !opened) return tl::unexpected(opened.error());
  return server;
}

}  // namespace tafel::broker
