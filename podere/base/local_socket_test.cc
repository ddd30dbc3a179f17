#include "podere/base/local_socket.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"

namespace podere {
namespace {

class LocalSocketTest : public testing::Test {
 protected:
  /// Waits for a line, as long as there may be one.
  static std::optional<std::string> next_line(LineSocket& socket) {
    while (true) {
      if (auto line = socket.take_line()) return line;
      if (!socket.receive(1000)) return std::nullopt;
    }
  }
  const TemporaryFolder folder{testing::TempDir()};
  const std::filesystem::path path = folder.path() / "s.socket";
};

TEST_F(LocalSocketTest, CarriesLinesBothWays) {
  Listener listener(path);
  auto client = LineSocket::connect(path);
  ASSERT_TRUE(client);
  auto server = listener.accept();
  ASSERT_TRUE(server);
  EXPECT_FALSE(listener.accept());
  const std::string big(1 << 20, 'x');
  std::thread sender([&] {
    client->send_line("a");
    client->send_line(big);
    client->send_line("");
  });
  EXPECT_EQ(next_line(*server), "a");
  EXPECT_EQ(next_line(*server), big);
  EXPECT_EQ(next_line(*server), "");
  sender.join();
  server->send_line("b");
  EXPECT_EQ(next_line(*client), "b");
  client->close();
  EXPECT_EQ(next_line(*server), std::nullopt);
}

TEST_F(LocalSocketTest, SendingToOneWhoHasGoneIsNoSignal) {
  Listener listener(path);
  auto client = LineSocket::connect(path);
  listener.accept();  // and goes
  while (client->send_line("a")) {
  }
  EXPECT_EQ(next_line(*client), std::nullopt);
}

TEST_F(LocalSocketTest, PostingToOneWhoDoesNotReadDoesNotWait) {
  Listener listener(path);
  auto client = LineSocket::connect(path);
  auto server = listener.accept();
  const std::string big(8 << 20, 'x');
  server->post_line(big);
  server->post_line("last");
  EXPECT_GT(server->n_unsent_bytes(), big.size() / 2);
  std::thread sender([&] {
    while (server->flush() && server->n_unsent_bytes() > 0) std::this_thread::yield();
  });
  EXPECT_EQ(next_line(*client), big);
  EXPECT_EQ(next_line(*client), "last");
  sender.join();
  EXPECT_EQ(server->n_unsent_bytes(), 0U);
}

TEST_F(LocalSocketTest, PostingToOneWhoHasGoneEndsTheConnection) {
  Listener listener(path);
  auto client = LineSocket::connect(path);
  listener.accept();  // and goes
  client->post_line(std::string(8 << 20, 'x'));
  EXPECT_EQ(client->n_unsent_bytes(), 0U);
  EXPECT_EQ(next_line(*client), std::nullopt);
}

TEST_F(LocalSocketTest, NoOtherUserCanConnect) {
  const Listener listener(path);
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(LocalSocketTest, NoProcessListensWhereThereIsNoFile) {
  EXPECT_FALSE(LineSocket::connect(path));
  EXPECT_FALSE(LineSocket::connect(folder.path() / std::string(200, 'x')));
}

TEST_F(LocalSocketTest, TheFileGoesWithItsListener) {
  { const Listener listener(path); }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(LocalSocketTest, PathsHaveALimit) {
  EXPECT_THROW(Listener(folder.path() / std::string(200, 'x')), InputError);
  EXPECT_THROW(Listener(folder.path() / "none" / "s"), InputError);
}

}  // namespace
}  // namespace podere
