#include "podere/jobs/event_stream.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <climits>
#include <thread>

namespace podere::jobs {
namespace {

/// A pipe; what was written to it is read back as text after its writing end is closed.
class Pipe {
 public:
  Pipe() {
    if (pipe(ends_.data()) != 0) throw std::runtime_error("no pipe");
  }
  ~Pipe() {
    close_writer();
    close(ends_[0]);
  }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  void send(const std::string& text) {
    ASSERT_EQ(::write(writer(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string received() {
    close_writer();
    std::string text;
    std::array<char, 4096> chunk;
    for (ssize_t n = 0; (n = ::read(reader(), chunk.data(), chunk.size())) > 0;) {
      text.append(chunk.data(), static_cast<std::size_t>(n));
    }
    return text;
  }

 private:
  std::array<int, 2> ends_{};
};

TEST(EventWriter, WritesALinePerEvent) {
  Pipe pipe;
  EventWriter events(pipe.writer());
  events.write({{"event", "ready"}});
  events.write({{"event", "result"}, {"id", 3}});
  EXPECT_EQ(pipe.received(), "{\"event\":\"ready\"}\n{\"event\":\"result\",\"id\":3}\n");
}

TEST(EventWriter, ClipsFailuresToWhatAPipeTakesWhole) {
  for (const std::string& message :
       {std::string(100'000, 'x'), std::string(100'000, '\x01'), std::string(100'000, '\xff')}) {
    Pipe pipe;
    EventWriter(pipe.writer()).write_failure(7, FailureKind::kInput, 2, message);
    const std::string line = pipe.received();
    EXPECT_LE(line.size(), static_cast<std::size_t>(PIPE_BUF));
    const Json event = Json::parse(line);
    EXPECT_EQ(event["kind"], "input");
    EXPECT_EQ(event["rank"], 2);
    EXPECT_GT(event["message"].get<std::string>().size(), 300u);
  }
}

TEST(OrderReader, HandsOutJobsInOrderUntilTheEnd) {
  Pipe in;
  Pipe out;
  EventWriter events(out.writer());
  in.send("{\"id\":1,\"job\":{\"kind\":\"describe\"}}\n\n{\"id\":\"b\",\"job\":{}}\n{\"end\":true}\n");
  OrderReader orders(in.reader(), events);
  const auto first = orders.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->id, 1);
  EXPECT_EQ(first->job, Json({{"kind", "describe"}}));
  EXPECT_EQ(orders.next()->id, "b");
  EXPECT_FALSE(orders.next());
}

TEST(OrderReader, AnswersGarbageAndContinues) {
  Pipe in;
  Pipe out;
  EventWriter events(out.writer());
  {
    in.send("hello\n{\"id\":\n[]\n{}\n{\"end\":5}\n" + std::string(20'000, '[') +
            "\n{\"id\":5,\"job\":{}}\n{\"end\":true}\n");
    OrderReader orders(in.reader(), events);
    EXPECT_EQ(orders.next()->id, 5);
    EXPECT_FALSE(orders.next());
  }
  const std::string answers = out.received();
  std::size_t n_failures = 0;
  for (auto at = answers.find("\"failed\""); at != std::string::npos; at = answers.find("\"failed\"", at + 1))
    ++n_failures;
  EXPECT_EQ(n_failures, 6u);
}

TEST(OrderReader, CancelsTheJobThatRunsAndThoseThatWait) {
  Pipe in;
  Pipe out;
  EventWriter events(out.writer());
  in.send("{\"id\":1,\"job\":{}}\n{\"id\":2,\"job\":{}}\n{\"id\":3,\"job\":{}}\n");
  OrderReader orders(in.reader(), events);
  EXPECT_EQ(orders.next()->id, 1);
  EXPECT_FALSE(orders.is_cancelled());
  in.send("{\"cancel\":99}\n{\"cancel\":2}\n{\"cancel\":1}\n{\"end\":true}\n");
  for (int i = 0; i < 1000 && !orders.is_cancelled(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(orders.is_cancelled());
  EXPECT_EQ(orders.next()->id, 3);
  EXPECT_FALSE(orders.is_cancelled());
}

TEST(OrderReaderDeathTest, EndsTheProcessWhenTheDriverIsGone) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        Pipe in;
        EventWriter events(STDERR_FILENO);
        in.send("{\"id\":1,\"job\":{}}\n");
        in.close_writer();
        OrderReader orders(in.reader(), events);
        while (orders.next()) {
        }
      },
      testing::ExitedWithCode(EXIT_FAILURE), "");
}

}  // namespace
}  // namespace podere::jobs
