// Sockets behind our result type: what they deliver, what they refuse, what they tell about peers.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#include <zmq.hpp>

#include "common/net/socket.hpp"
#include "tests/broker/rig.hpp"
#include "tests/broker/wire_client.hpp"
#include "tests/tcp_port.hpp"

namespace tafel {
namespace {

using std::chrono::milliseconds;
using testing::eventually;
using testing::TemporaryDirectory;

std::unique_ptr<net::Router> bound(net::Context& context, const std::string& endpoint,
                                   const net::RouterOptions& options = {}) {
  auto router = net::Router::bind(context, {endpoint}, options);
  if (!router) ADD_FAILURE() << router.error().message;
  return router ? std::move(*router) : nullptr;
}

std::unique_ptr<net::Dealer> connected(net::Context& context, const std::string& endpoint) {
  auto dealer = net::Dealer::connect(context, endpoint, 1U << 20U);
  if (!dealer) ADD_FAILURE() << dealer.error().message;
  return dealer ? std::move(*dealer) : nullptr;
}

std::optional<net::Received> next(net::Router& router) {
  std::optional<net::Received> received;
  eventually([&] { return (received = router.receive()).has_value(); });
  return received;
}

std::optional<std::string> next(net::Dealer& dealer) {
  std::optional<std::string> received;
  eventually([&] { return (received = dealer.receive()).has_value(); });
  return received;
}

void expect_conversation(net::Context& context, const std::string& endpoint) {
  const auto router = bound(context, endpoint);
  ASSERT_TRUE(router);
  const auto dealer = connected(context, router->endpoints().front());
  ASSERT_TRUE(eventually([&] { return dealer->send("ask"); }));
  const auto asked = next(*router);
  ASSERT_TRUE(asked.has_value());
  EXPECT_EQ(asked->bytes, "ask");
  EXPECT_EQ(router->send(asked->peer, "answer"), net::Sent::sent);
  EXPECT_EQ(next(*dealer), "answer");
}

TEST(Net, AsksAndAnswersOverEveryTransport) {
  const TemporaryDirectory folder;
  net::Context context;
  expect_conversation(context, "tcp://127.0.0.1:0");
  expect_conversation(context, "ipc://" + (folder.path() / "socket").string());
  expect_conversation(context, "inproc://somewhere");
}

TEST(Net, ADealerMayComeBeforeTheRouterInOneProcess) {
  net::Context context;
  const auto dealer = connected(context, "inproc://later");
  EXPECT_TRUE(dealer->send("early"));
  const auto router = bound(context, "inproc://later");
  const auto received = next(*router);
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(received->bytes, "early");
}

TEST(Net, QueuesNothingForALinkThatIsNotThere) {
  net::Context context;
  const testing::TcpPort port;  // nobody listens
  const auto dealer = connected(context, port.endpoint());
  EXPECT_FALSE(dealer->send("lost"));
}

TEST(Net, ReconnectsByItself) {
  net::Context context;
  auto router = bound(context, "tcp://127.0.0.1:0");
  const std::string endpoint = router->endpoints().front();
  const auto dealer = connected(context, endpoint);
  ASSERT_TRUE(eventually([&] { return dealer->send("one"); }));
  ASSERT_TRUE(next(*router).has_value());
  router.reset();
  ASSERT_TRUE(eventually([&] {
    auto again = net::Router::bind(context, {endpoint}, {});
    if (again) router = std::move(*again);
    return router != nullptr;
  }));
  std::optional<net::Received> received;
  EXPECT_TRUE(eventually([&] {
    dealer->send("two");
    return (received = router->receive()).has_value();
  }));
  EXPECT_EQ(received->bytes, "two");
}

TEST(Net, TellsWhenAPeerIsGoneOrFull) {
  net::Context context;
  net::RouterOptions options;
  options.send_queue = 4;
  const auto router = bound(context, "tcp://127.0.0.1:0", options);
  EXPECT_EQ(router->send("nobody", "x"), net::Sent::gone);

  auto dealer = connected(context, router->endpoints().front());
  ASSERT_TRUE(eventually([&] { return dealer->send("hello"); }));
  const auto received = next(*router);
  ASSERT_TRUE(received.has_value());
  const std::string large(100'000, 'x');
  net::Sent result = net::Sent::sent;
  for (int i = 0; i < 100'000 && result == net::Sent::sent; ++i) result = router->send(received->peer, large);
  EXPECT_EQ(result, net::Sent::full);
  dealer.reset();
  EXPECT_TRUE(eventually([&] {
    router->receive();  // as a server does all the time: the end of a connection comes after what it had sent
    return router->send(received->peer, "x") == net::Sent::gone;
  }));
}

TEST(Net, DropsMessagesOfAnotherShapeAndGoesOn) {
  net::Context context;
  const auto router = bound(context, "tcp://127.0.0.1:0");
  zmq::context_t other;
  zmq::socket_t dealer(other, zmq::socket_type::dealer);
  dealer.set(zmq::sockopt::linger, 0);
  dealer.connect(router->endpoints().front());
  for (int frame = 0; frame < 50; ++frame) dealer.send(zmq::buffer(std::string("part")), zmq::send_flags::sndmore);
  dealer.send(zmq::buffer(std::string("end")), zmq::send_flags::none);
  dealer.send(zmq::buffer(std::string("whole")), zmq::send_flags::none);
  const auto received = next(*router);
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(received->bytes, "whole");
  EXPECT_EQ(router->dropped(), 1U);
}

TEST(Net, CutsAPeerThatSendsMoreThanAMessageMayHold) {
  net::Context context;
  net::RouterOptions options;
  options.message_bytes_max = 1'000;
  const auto router = bound(context, "tcp://127.0.0.1:0", options);
  testing::RawPeer peer(router->endpoints().front());
  ASSERT_TRUE(peer.shake_hands());
  peer.send(testing::zmtp_frame(std::string(1'001, 'x'), false));
  EXPECT_TRUE(peer.is_cut());
  EXPECT_FALSE(router->receive().has_value());
}

TEST(Net, AnEndpointInUseIsLocked) {
  const TemporaryDirectory folder;
  net::Context context;
  for (const std::string& endpoint :
       {std::string("tcp://127.0.0.1:0"), "ipc://" + (folder.path() / "s").string(), std::string("inproc://s")}) {
    const auto first = bound(context, endpoint);
    ASSERT_TRUE(first);
    const auto second = net::Router::bind(context, first->endpoints(), {});
    ASSERT_FALSE(second.has_value()) << endpoint;
    EXPECT_EQ(second.error().fault, Fault::locked);
    const auto dealer = connected(context, first->endpoints().front());  // the first one is still served
    ASSERT_TRUE(eventually([&] { return dealer->send("x"); }));
    EXPECT_TRUE(next(*first).has_value());
  }
}

TEST(Net, MakesThePrivateDirectoryOfAnIpcSocket) {
  const TemporaryDirectory folder;
  net::Context context;
  ASSERT_TRUE(bound(context, "ipc://" + (folder.path() / "made" / "socket").string()));
  struct stat status {};
  ASSERT_EQ(::stat((folder.path() / "made").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

// What a killed process leaves behind.
void leave_dead_socket(const std::string& path) {
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  EXPECT_EQ(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ::close(descriptor);
}

TEST(Net, AnIpcSocketIsForItsUserOnlyAndReplacesADeadOne) {
  const TemporaryDirectory folder;
  const auto directory = folder.path() / "made";
  const std::string path = (directory / "socket").string();
  ASSERT_EQ(::mkdir(directory.c_str(), 0700), 0);
  leave_dead_socket(path);
  net::Context context;
  const auto router = bound(context, "ipc://" + path);
  ASSERT_TRUE(router);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST(Net, AnIpcPathThatIsNotSafeIsRefused) {
  const TemporaryDirectory folder;
  net::Context context;
  const auto refused = [&](const std::string& path) {
    const auto router = net::Router::bind(context, {"ipc://" + path}, {});
    return !router && router.error().fault == Fault::bad_config;
  };
  const std::string file = (folder.path() / "file").string();
  std::ofstream(file) << "precious";
  EXPECT_TRUE(refused(file));
  std::string content;
  std::ifstream(file) >> content;
  EXPECT_EQ(content, "precious");

  const std::string shared = (folder.path() / "shared").string();
  ASSERT_EQ(::mkdir(shared.c_str(), 0700), 0);
  ASSERT_EQ(::chmod(shared.c_str(), 0777), 0);
  EXPECT_TRUE(refused(shared + "/socket"));
  EXPECT_TRUE(refused((folder.path() / std::string(120, 'x')).string()));
  EXPECT_TRUE(refused("@abstract"));
  EXPECT_TRUE(refused("/no/such/parent/socket"));
}

TEST(Net, EndpointsThatAreNoneAreFailuresNotExceptions) {
  net::Context context;
  for (const char* endpoint : {"", "nonsense", "tcp://", "tcp://127.0.0.1:notaport", "foo://x"}) {
    EXPECT_FALSE(net::Router::bind(context, {endpoint}, {}).has_value()) << endpoint;
    EXPECT_FALSE(net::Dealer::connect(context, endpoint, 1000).has_value()) << endpoint;
    EXPECT_FALSE(net::Publisher::bind(context, endpoint).has_value()) << endpoint;
  }
}

TEST(Net, AWakerWakesAPollerFromAnotherThread) {
  net::Waker waker;
  net::Poller poller;
  poller.add(&waker);
  std::thread other([&] { waker.wake(); });
  const auto begin = std::chrono::steady_clock::now();
  poller.wait(testing::patience);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, testing::patience);
  other.join();
  waker.clear();
  poller.wait(milliseconds(0));
}

TEST(Net, APublisherSpeaksToPlainSubscribers) {
  net::Context context;
  auto publisher = net::Publisher::bind(context, "tcp://127.0.0.1:0");
  ASSERT_TRUE(publisher.has_value());
  zmq::context_t other;
  zmq::socket_t subscriber(other, zmq::socket_type::sub);
  subscriber.set(zmq::sockopt::subscribe, "topic-1");
  subscriber.connect((*publisher)->endpoint());
  zmq::message_t topic;
  ASSERT_TRUE(eventually([&] {
    (*publisher)->drain();
    (*publisher)->publish("topic-2", "other");
    (*publisher)->publish("topic-1", "mine");
    return subscriber.recv(topic, zmq::recv_flags::dontwait).has_value();
  }));
  EXPECT_EQ(topic.to_string_view(), "topic-1");
  zmq::message_t payload;
  ASSERT_TRUE(subscriber.recv(payload).has_value());
  EXPECT_EQ(payload.to_string_view(), "mine");
}

TEST(Net, CutsASubscriberWithTooManyTopics) {
  net::Context context;
  auto publisher = net::Publisher::bind(context, "tcp://127.0.0.1:0");
  ASSERT_TRUE(publisher.has_value());
  testing::RawPeer peer((*publisher)->endpoint());
  ASSERT_TRUE(peer.shake_hands("SUB"));
  std::string subscriptions;
  for (int i = 0; i < 5'000; ++i) subscriptions += testing::zmtp_frame("\x01" + std::to_string(i), false);
  peer.send(subscriptions);
  std::thread drainer([&, end = std::chrono::steady_clock::now() + testing::patience] {
    while (!peer.is_cut(milliseconds(0)) && std::chrono::steady_clock::now() < end) (*publisher)->drain();
  });
  drainer.join();
  EXPECT_TRUE(peer.is_cut());
}

TEST(Net, SocketsMayOutliveTheirContext) {
  auto context = std::make_unique<net::Context>();
  const auto router = bound(*context, "tcp://127.0.0.1:0");
  context.reset();
  EXPECT_FALSE(router->receive().has_value());
}

}  // namespace
}  // namespace tafel
