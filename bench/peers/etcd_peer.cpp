// etcd under the load: one Txn an update (put and delete of elements, put of a field, put of the change), which is one
// revision. A board's change key holds the newest change and its key version is the board's version; subscribers watch
// it.
#include <etcd.grpc.pb.h>
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "bench/peers/peers.hpp"

namespace tafel::bench {
namespace {

namespace api = etcdserverpb;

constexpr std::uint64_t preload_elements_max = 100;  // etcd takes at most 128 operations in one Txn
constexpr std::chrono::seconds patience{60};

std::string board_key(std::size_t board, std::string_view what) { return fmt::format("/board/{}/{}", board, what); }

void add_put(api::TxnRequest& txn, std::string key, std::string value) {
  api::PutRequest* put = txn.add_success()->mutable_request_put();
  put->set_key(std::move(key));
  put->set_value(std::move(value));
}

std::shared_ptr<grpc::Channel> open_channel(const PeerAddress& address, std::size_t number) {
  grpc::ChannelArguments arguments;
  arguments.SetInt("bench.channel", static_cast<int>(number));  // equal arguments would share one connection
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(fmt::format("{}:{}", address.host, address.port), grpc::InsecureChannelCredentials(),
                                   arguments);
}

class EtcdPeer final : public Peer {
 public:
  explicit EtcdPeer(PeerAddress address) : address_(std::move(address)) {}

  ~EtcdPeer() override {
    for (const auto& watch : watches_) watch->context.TryCancel();
    acks_.Shutdown();
    deliveries_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (acks_.Next(&tag, &ok)) delete static_cast<Call*>(tag);
    while (deliveries_.Next(&tag, &ok)) {
    }
  }

  std::string name() const override { return "etcd"; }

  Result<void> prepare(const Shape& shape, std::uint64_t elements) override {
    control_ = api::KV::NewStub(open_channel(address_, 0));
    boards_ = shape.boards;
    for (std::size_t board = 0; board < boards_; ++board) {
      for (std::uint64_t first = 0; first < elements; first += preload_elements_max) {
        api::TxnRequest txn;
        for (std::uint64_t i = first; i < std::min(first + preload_elements_max, elements); ++i) {
          add_put(txn, board_key(board, "targets/" + element_name(i)), "1");
        }
        if (auto done = ask(txn); !done) return tl::unexpected(done.error());
      }
    }
    return {};
  }

  Result<void> start_agents(std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) agents_.push_back(api::KV::NewStub(open_channel(address_, 1 + i)));
    return {};
  }

  Result<void> start_subscribers(std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) {
      auto watch = std::make_unique<Watch>();
      watch->subscriber = i;
      watch->stub = api::Watch::NewStub(open_channel(address_, 1'000 + i));
      watch->stream = watch->stub->AsyncWatch(&watch->context, &deliveries_, watch.get());
      if (!await_watch()) return fail(Fault::unreachable, "etcd does not watch");
      for (std::size_t board = 0; board < boards_; ++board) {
        api::WatchRequest request;
        request.mutable_create_request()->set_key(board_key(board, "change"));
        watch->stream->Write(request, watch.get());
        if (!await_watch()) return fail(Fault::unreachable, "etcd does not watch");
        watch->stream->Read(&watch->response, watch.get());
        if (!await_watch() || !watch->response.created()) return fail(Fault::refused, "etcd does not watch");
      }
      watch->stream->Read(&watch->response, watch.get());
      watches_.push_back(std::move(watch));
    }
    return {};
  }

  void submit(std::size_t agent, const Update& update) override {
    const std::size_t board = agent % boards_;
    api::TxnRequest txn;
    add_put(txn, board_key(board, "targets/") + std::string(update.add), "1");
    txn.add_success()->mutable_request_delete_range()->set_key(board_key(board, "targets/") +
                                                               std::string(update.remove));
    add_put(txn, board_key(board, update.field), std::string(update.value));
    add_put(txn, board_key(board, "change"),
            fmt::format("{} +{} -{} {}={}", update.number, update.add, update.remove, update.field, update.value));
    auto* call = new Call{agent, {}, {}, {}, {}};
    call->reader = agents_[agent]->AsyncTxn(&call->context, txn, &acks_);
    call->reader->Finish(&call->response, &call->status, call);
  }

  Result<void> flush() override { return {}; }

  // Calls of one agent may end in another order than they began; the ack that is told is always that of the oldest.
  Result<void> poll_acks(std::chrono::milliseconds wait, std::vector<Ack>& acks) override {
    auto deadline = std::chrono::system_clock::now() + wait;
    void* tag = nullptr;
    bool ok = false;
    while (acks_.AsyncNext(&tag, &ok, deadline) == grpc::CompletionQueue::GOT_EVENT) {
      const std::unique_ptr<Call> call(static_cast<Call*>(tag));
      const bool is_error = !ok || !call->status.ok() || !call->response.succeeded();
      acks.push_back({call->agent, !is_error, is_error});
      deadline = std::chrono::system_clock::time_point();  // and what is there already
    }
    return {};
  }

  Result<void> poll_deliveries(std::chrono::milliseconds wait, std::vector<Delivery>& deliveries) override {
    auto deadline = std::chrono::system_clock::now() + wait;
    void* tag = nullptr;
    bool ok = false;
    while (deliveries_.AsyncNext(&tag, &ok, deadline) == grpc::CompletionQueue::GOT_EVENT) {
      auto* watch = static_cast<Watch*>(tag);
      if (!ok || watch->response.canceled()) return fail(Fault::unreachable, "etcd ended a watch");
      for (const api::Event& event : watch->response.events()) deliveries.push_back(delivery_of(*watch, event.kv()));
      watch->stream->Read(&watch->response, watch);
      deadline = std::chrono::system_clock::time_point();
    }
    return {};
  }

  Result<std::uint64_t> versions() override {
    api::TxnRequest txn;
    for (std::size_t board = 0; board < boards_; ++board) {
      txn.add_success()->mutable_request_range()->set_key(board_key(board, "change"));
    }
    const auto answer = ask(txn);
    if (!answer) return tl::unexpected(answer.error());
    std::uint64_t sum = 0;
    for (const api::ResponseOp& op : answer->responses()) {
      for (const api::KeyValue& pair : op.response_range().kvs()) sum += static_cast<std::uint64_t>(pair.version());
    }
    return sum;
  }

 private:
  struct Call {
    std::size_t agent;
    grpc::ClientContext context;
    api::TxnResponse response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<api::TxnResponse>> reader;
  };
  struct Watch {
    std::size_t subscriber = 0;
    std::unique_ptr<api::Watch::Stub> stub;
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientAsyncReaderWriter<api::WatchRequest, api::WatchResponse>> stream;
    api::WatchResponse response;
  };

  Result<api::TxnResponse> ask(const api::TxnRequest& txn) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + patience);
    context.set_wait_for_ready(true);
    api::TxnResponse response;
    const grpc::Status status = control_->Txn(&context, txn, &response);
    if (!status.ok()) return fail(Fault::refused, "etcd: " + status.error_message());
    return response;
  }

  bool await_watch() {
    void* tag = nullptr;
    bool ok = false;
    const auto deadline = std::chrono::system_clock::now() + patience;
    return deliveries_.AsyncNext(&tag, &ok, deadline) == grpc::CompletionQueue::GOT_EVENT && ok;
  }

  static Delivery delivery_of(const Watch& watch, const api::KeyValue& pair) {
    Delivery delivery;
    delivery.subscriber = watch.subscriber;
    const std::string_view board = std::string_view(pair.key()).substr(std::string_view("/board/").size());
    std::from_chars(board.data(), board.data() + board.size(), delivery.board);
    delivery.version = static_cast<std::uint64_t>(pair.version());
    std::from_chars(pair.value().data(), pair.value().data() + pair.value().size(), delivery.number);
    return delivery;
  }

  const PeerAddress address_;
  std::size_t boards_ = 1;
  std::unique_ptr<api::KV::Stub> control_;
  std::vector<std::unique_ptr<api::KV::Stub>> agents_;
  grpc::CompletionQueue acks_;
  grpc::CompletionQueue deliveries_;
  std::vector<std::unique_ptr<Watch>> watches_;
};

}  // namespace

std::unique_ptr<Peer> make_etcd_peer(const PeerAddress& address) { return std::make_unique<EtcdPeer>(address); }

}  // namespace tafel::bench
