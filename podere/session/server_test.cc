// The server with executors that are a few lines of shell.
#include "podere/session/server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "podere/base/temporary_folder.h"
#include "podere/jobs/table_jobs.h"
#include "podere/session/client.h"
#include "podere/session/scripted_launcher.h"

namespace podere::session {
namespace {

constexpr const char* kReadyForOrders = R"(echo '{"event":"ready","protocol":2,"executors":1}'; read order; )";

TEST(Server, EndsWhenItIsAskedToWhileTablesAreMadeAgain) {
  const TemporaryFolder folder(testing::TempDir());
  setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
  const std::filesystem::path restoring = folder.path() / "restoring";
  const std::string dies = R"(echo '{"event":"result","id":1,"result":{"tables":[{"name":"a"}]}}'; kill -9 $$)";
  const std::string never_answers = "touch " + restoring.string() + "; cat > /dev/null";
  std::promise<void> is_ready;
  int n_groups = 0;
  ServerOptions options{.session = {}, .checkpoints = folder.path(), .prometheus = {}};
  scripted(options.session).launch = [&](int) {
    return CommandLine{{"sh", "-c", kReadyForOrders + (++n_groups == 1 ? dies : never_answers)}};
  };
  options.log = [&](const std::string& line) {
    if (line == "ready") is_ready.set_value();
  };
  SessionPlace place("s");
  std::thread server([&] { serve_session(place, options); });
  is_ready.get_future().wait();
  Client client("s");
  Progress progress;
  client.run(jobs::LoadJob{{"x.csv", {}}, "a"}, progress);
  while (!std::filesystem::exists(restoring)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  client.ask({{"stop", true}});
  server.join();
  unsetenv("XDG_RUNTIME_DIR");
}

TEST(Server, ShowsOnItsPageWhatItWaitsForWhileItStarts) {
  const TemporaryFolder folder(testing::TempDir());
  setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
  std::promise<void> is_ready;
  std::vector<std::string> lines;
  ServerOptions options{.session = {}, .checkpoints = folder.path(), .prometheus = {}, .page = "127.0.0.1:0"};
  scripted(options.session).await = [](Progress& progress) { progress.warn("waits for room in the farm"); };
  scripted(options.session).launch = [](int) {
    return CommandLine{{"sh", "-c", kReadyForOrders}};  // the first order is the end
  };
  options.log = [&](const std::string& line) {
    lines.push_back(line);
    if (line == "ready") is_ready.set_value();
  };
  SessionPlace place("s");
  std::thread server([&] { serve_session(place, options); });
  is_ready.get_future().wait();
  Client client("s");
  const Json status = client.ask({{"ask", "status"}});
  EXPECT_TRUE(status.at("page").is_string());  // from the first answer on
  EXPECT_EQ(status.at("each").size(), 1);
  client.ask({{"stop", true}});
  server.join();
  EXPECT_EQ(lines.at(0), "waits for room in the farm");
  unsetenv("XDG_RUNTIME_DIR");
}

}  // namespace
}  // namespace podere::session
