// The room kube against a real API server: PODERE_TEST_CLUSTER names the folder of a cluster that cluster.sh started,
// in which there is a student.kubeconfig of a user without rights. "candidate LEASE NAME" as arguments acts as
// election.
#include "podere/kube/client.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/subprocess.h"
#include "podere/kube/event_recorder.h"
#include "podere/kube/files.h"
#include "podere/kube/http_connection.h"
#include "podere/kube/leader_election.h"
#include "podere/kube/reflector.h"
#include "podere/kube/store.h"

namespace podere::kube {
namespace {

using namespace std::chrono_literals;

const Resource kCustomResources{"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions",
                                false};
const Resource kPlots{"test.podere.io", "v1", "Plot", "plots"};
const Resource kBudgets{"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"};
constexpr double kLeaseSeconds = 3;

std::string file(const std::string& name) { return std::string(std::getenv("PODERE_TEST_CLUSTER")) + "/" + name; }

Access access_of(const std::string& user) { return find_access({.kubeconfig = file(user + ".kubeconfig")}); }

bool comes_true(const std::function<bool()>& what, double seconds = 60) {
  for (const Stopwatch watch; watch.seconds() < seconds; std::this_thread::sleep_for(20ms)) {
    if (what()) return true;
  }
  return false;
}

template <typename Act>
ApiError refusal_of(const Act& act) {
  try {
    act();
  } catch (const ApiError& error) {
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
    return error;
  }
  return ApiError("none", 0, "", {});
}

/// A namespace of its own for each test, and the kind Plot.
class ClusterTest : public testing::Test {
 protected:
  ClusterTest() {
    try {
      client.create(kCustomResources, plots());
    } catch (const ApiError& error) {
      EXPECT_TRUE(error.already_exists()) << error.what();
    }
    EXPECT_TRUE(comes_true([this] {
      const Json kind = client.get(kCustomResources, {"", "plots.test.podere.io"});
      for (const Json& condition : kind.value("/status/conditions"_json_pointer, Json::array())) {
        if (condition.at("type") == "Established" && condition.at("status") == "True") return true;
      }
      return false;
    }));
    // The server begins to serve a new kind a moment after it has said so.
    EXPECT_TRUE(comes_true([this] {
      try {
        client.list(kPlots);
        return true;
      } catch (const ApiError&) {
        return false;
      }
    }));
    client.create(kNamespaces, object_of(kNamespaces, {"", space}));
  }
  ~ClusterTest() override { client.remove(kNamespaces, {"", space}); }

  ObjectKey key(const std::string& name) const { return {space, name}; }
  Json config_map(const std::string& name, const Json& values = Json::object()) const {
    Json object = object_of(kConfigMaps, key(name));
    object["data"] = values;
    return object;
  }
  Json plot(const std::string& name, int executors) const {
    Json object = object_of(kPlots, key(name));
    object["spec"]["executors"] = executors;
    return object;
  }
  static Json plots() {
    Json resource = object_of(kCustomResources, {"", "plots.test.podere.io"});
    resource["spec"] = Json::parse(R"({
      "group": "test.podere.io", "scope": "Namespaced",
      "names": {"kind": "Plot", "plural": "plots", "singular": "plot"},
      "versions": [{
        "name": "v1", "served": true, "storage": true,
        "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.executors", "statusReplicasPath": ".status.running"}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
          "spec": {"type": "object", "properties": {
            "executors": {"type": "integer", "minimum": 0}, "crop": {"type": "string"}, "soil": {"type": "string"}}},
          "status": {"type": "object", "properties": {
            "running": {"type": "integer"}, "reason": {"type": "string"}}}}}}}]})");
    return resource;
  }
  /// etcd forgets all that was.
  void compact() {
    const std::string settings = read_small_file(file("settings"));
    const auto at = settings.find("etcd_port=\"") + 11;
    const Access etcd{.server = "https://127.0.0.1:" + settings.substr(at, settings.find('"', at) - at),
                      .authority = read_small_file(file("ca.crt")),
                      .origin = "etcd",
                      .credentials = make_credentials({.certificate = read_small_file(file("admin.crt")),
                                                       .key = read_small_file(file("admin.key"))})};
    const Json last = client.create(kConfigMaps, config_map("last"));
    const Json body{{"revision", std::string(resource_version_of(last))}, {"physical", true}};
    const HttpHead head = HttpConnection(etcd, "test")
                              .perform({.method = "POST",
                                        .target = "/v3/kv/compaction",
                                        .content_type = "application/json",
                                        .body = body.dump()},
                                       etcd.credentials->current(), [](const HttpHead&, std::string_view) {}, {});
    ASSERT_EQ(head.status, 200);
  }
  /// Ends a part of the cluster, which starts again.
  static void kill_part(const std::string& part) {
    const pid_t process = std::stoi(read_small_file(file(part + ".pid")));
    ASSERT_EQ(kill(process, SIGKILL), 0);
    ASSERT_TRUE(comes_true([&] { return kill(process, 0) != 0; }));
  }

  Client client{access_of("admin"), {.requests_per_second = 200, .burst = 400}};
  const std::string space =
      fmt::format("client-{}-{}", getpid(), testing::UnitTest::GetInstance()->current_test_info()->line());
};

TEST_F(ClusterTest, IsFoundAndKnowsItsVersion) { EXPECT_TRUE(check_access(client).starts_with("v1.")); }

TEST_F(ClusterTest, KeepsWhatIsWritten) {
  const Json made = client.create(kConfigMaps, config_map("a", {{"x", "1"}, {"y", "2"}}));
  EXPECT_FALSE(uid_of(made).empty());
  EXPECT_TRUE(refusal_of([&] { client.create(kConfigMaps, config_map("a")); }).already_exists());
  EXPECT_EQ(client.get(kConfigMaps, key("a")).at("data"), made.at("data"));
  EXPECT_EQ(client.find(kConfigMaps, key("b")), std::nullopt);
  EXPECT_TRUE(refusal_of([&] { client.get(kConfigMaps, key("b")); }).is_not_found());

  const Json patched = client.merge_patch(kConfigMaps, key("a"), {{"data", {{"x", nullptr}, {"z", "3"}}}});
  EXPECT_EQ(patched.at("data"), Json({{"y", "2"}, {"z", "3"}}));
  EXPECT_TRUE(refusal_of([&] { client.replace(kConfigMaps, made); }).is_conflict()) << "it has changed since";
  Json next = patched;
  next["data"]["y"] = "4";
  EXPECT_EQ(client.replace(kConfigMaps, next).at("data").at("y"), "4");
  next["metadata"]["name"] = "UPPER";
  next["metadata"].erase("resourceVersion");
  next["metadata"].erase("uid");
  EXPECT_TRUE(refusal_of([&] { client.create(kConfigMaps, next); }).is_invalid());
}

TEST_F(ClusterTest, DeletesOnlyTheVeryObject) {
  const Json first = client.create(kConfigMaps, config_map("a"));
  client.remove(kConfigMaps, key("a"), {.uid = std::string(uid_of(first))});
  const Json second = client.create(kConfigMaps, config_map("a"));
  EXPECT_TRUE(
      refusal_of([&] { client.remove(kConfigMaps, key("a"), {.uid = std::string(uid_of(first))}); }).is_conflict());
  client.merge_patch(kConfigMaps, key("a"), {{"data", {{"x", "1"}}}});
  const DeleteOptions unchanged{.uid = std::string(uid_of(second)),
                                .resource_version = std::string(resource_version_of(second))};
  EXPECT_TRUE(refusal_of([&] { client.remove(kConfigMaps, key("a"), unchanged); }).is_conflict());
  client.remove(kConfigMaps, key("a"), {.uid = std::string(uid_of(second)), .grace_seconds = 0});
  EXPECT_TRUE(refusal_of([&] { client.remove(kConfigMaps, key("a")); }).is_not_found());
}

TEST_F(ClusterTest, ListsInPagesAndBySelectors) {
  for (int i = 0; i < 7; ++i) {
    Json object = config_map(fmt::format("m{}", i));
    object["metadata"]["labels"]["odd"] = i % 2 == 0 ? "no" : "yes";
    client.create(kConfigMaps, object);
  }
  EXPECT_EQ(client.list(kConfigMaps, {.in_namespace = space, .labels = "odd=yes"}).size(), 3U);
  EXPECT_EQ(client.list(kConfigMaps, {.in_namespace = space, .fields = "metadata.name=m3"}).size(), 1U);
  int n_begun = 0;
  std::vector<std::string> names;
  const std::string version = client.list_each(
      kConfigMaps, {.in_namespace = space, .labels = "odd"}, {.page_size = 2}, [&] { ++n_begun; },
      [&](const Json& object) {
        EXPECT_EQ(object.at("kind"), "ConfigMap");
        names.push_back(key_of(object).name);
      });
  EXPECT_EQ(n_begun, 1);
  EXPECT_EQ(names, (std::vector<std::string>{"m0", "m1", "m2", "m3", "m4", "m5", "m6"}));
  EXPECT_FALSE(version.empty());
}

TEST_F(ClusterTest, ListsAnewWhenPagesAreForgotten) {
  for (int i = 0; i < 5; ++i) client.create(kPlots, plot(fmt::format("p{}", i), i));
  std::vector<std::string> names;
  int n_begun = 0;
  client.list_each(
      kPlots, {.in_namespace = space}, {.page_size = 2},
      [&] {
        ++n_begun;
        names.clear();
      },
      [&](const Json& object) {
        names.push_back(key_of(object).name);
        if (n_begun > 1 || names.size() != 2) return;
        client.remove(kPlots, key("p1"));
        compact();
      });
  EXPECT_EQ(n_begun, 2);
  EXPECT_EQ(names, (std::vector<std::string>{"p0", "p2", "p3", "p4"}));
}

TEST_F(ClusterTest, AppliesFieldsThatManagersOwn) {
  Json mine = plot("p", 3);
  mine["spec"]["crop"] = "barley";
  client.apply(kPlots, mine, {.manager = "one"});
  Json other = plot("p", 5);
  const ApiError refused = refusal_of([&] { client.apply(kPlots, other, {.manager = "two"}); });
  EXPECT_TRUE(refused.is_conflict()) << refused.what();
  EXPECT_EQ(client.apply(kPlots, other, {.manager = "two", .is_forced = true}).at("spec"),
            Json({{"executors", 5}, {"crop", "barley"}}));
  mine["spec"] = {{"soil", "clay"}};
  EXPECT_EQ(client.apply(kPlots, mine, {.manager = "one"}).at("spec"), Json({{"executors", 5}, {"soil", "clay"}}))
      << "what one no longer applies goes";
  EXPECT_TRUE(refusal_of([&] { client.apply(kPlots, plot("p", -1), {.manager = "two"}); }).is_invalid());
}

TEST_F(ClusterTest, WritesStatusApartFromTheRest) {
  client.create(kPlots, plot("p", 3));
  Json status = object_of(kPlots, key("p"));
  status["status"] = {{"running", 2}, {"reason", "no room"}};
  status["spec"]["executors"] = 9;
  const Json written = client.apply(kPlots.sub("status"), status, {.manager = "operator"});
  EXPECT_EQ(written.at("spec").at("executors"), 3) << "not by status";
  EXPECT_EQ(written.at("status"), Json({{"running", 2}, {"reason", "no room"}}));
  EXPECT_EQ(written.at("metadata").at("generation"), 1);
  const Json patched =
      client.merge_patch(kPlots, key("p"), {{"spec", {{"executors", 4}}}, {"status", {{"running", 0}}}});
  EXPECT_EQ(patched.at("status").at("running"), 2) << "nor status by the rest";
  EXPECT_EQ(patched.at("metadata").at("generation"), 2);
}

TEST_F(ClusterTest, ScalesByTheSubresource) {
  client.create(kPlots, plot("p", 3));
  const Json scale = client.get(kPlots.sub("scale"), key("p"));
  EXPECT_EQ(scale.at("kind"), "Scale");
  EXPECT_EQ(scale.at("spec").at("replicas"), 3);
  client.merge_patch(kPlots.sub("scale"), key("p"), {{"spec", {{"replicas", 8}}}});
  EXPECT_EQ(client.get(kPlots, key("p")).at("spec").at("executors"), 8);
}

TEST_F(ClusterTest, EvictsAsBudgetsAllow) {
  Json pod = object_of(kPods, key("pod"));
  pod["metadata"]["labels"]["app"] = "guarded";
  pod["spec"] = {{"containers", {{{"name", "main"}, {"image", "none"}}}}, {"terminationGracePeriodSeconds", 0}};
  ASSERT_TRUE(comes_true([&] {
    return client.find({"", "v1", "ServiceAccount", "serviceaccounts"}, key("default")).has_value();
  }));
  const Json made = client.create(kPods, pod);
  ASSERT_TRUE(
      comes_true([&] { return client.get(kPods, key("pod")).value("/status/phase"_json_pointer, "") == "Running"; }));
  Json budget = object_of(kBudgets, key("budget"));
  budget["spec"] = {{"minAvailable", 1}, {"selector", {{"matchLabels", {{"app", "guarded"}}}}}};
  client.create(kBudgets, budget);
  ASSERT_TRUE(comes_true(
      [&] { return client.get(kBudgets, key("budget")).value("/status/observedGeneration"_json_pointer, 0) == 1; }));
  const Stopwatch watch;
  const ApiError refused = refusal_of([&] { client.evict(key("pod")); });
  EXPECT_TRUE(refused.is_from_disruption_budget()) << refused.what();
  EXPECT_LT(watch.seconds(), 5);
  client.remove(kBudgets, key("budget"));
  EXPECT_TRUE(comes_true([&] { return client.list(kBudgets, {.in_namespace = space}).empty(); }));
  EXPECT_TRUE(refusal_of([&] { client.evict(key("pod"), {.uid = "another"}); }).is_conflict());
  client.evict(key("pod"), {.uid = std::string(uid_of(made))});
  EXPECT_TRUE(comes_true([&] { return !client.find(kPods, key("pod")); }));
}

TEST_F(ClusterTest, ReportsEventsAndBookmarksInAWatch) {
  const std::string before(resource_version_of(client.create(kPlots, plot("a", 1))));
  client.merge_patch(kPlots, key("a"), {{"spec", {{"executors", 2}}}});
  client.remove(kPlots, key("a"));
  using enum WatchEvent::Kind;
  std::vector<WatchEvent::Kind> kinds;
  std::string last;
  std::string of_others;
  const Stopwatch watch;
  client.watch(kPlots, {.in_namespace = space}, {.resource_version = before, .timeout_seconds = 6},
               [&](const WatchEvent& event) {
                 kinds.push_back(event.kind);
                 last = resource_version_of(event.object);
                 if (event.kind != kDeleted) return;
                 // Bookmarks come two seconds before the end, if something happened that this watch does not show.
                 Json other = object_of(kPlots, {"default", space});
                 other["spec"] = Json::object();
                 of_others = resource_version_of(client.create(kPlots, other));
                 client.remove(kPlots, {"default", space});
               });
  EXPECT_GE(watch.seconds(), 5);
  ASSERT_GE(kinds.size(), 3U);
  kinds.resize(3);
  EXPECT_EQ(kinds, (std::vector{kModified, kDeleted, kBookmark}));
  EXPECT_GE(std::stoll(last), std::stoll(of_others));
}

TEST_F(ClusterTest, ReportsThatAVersionIsTooOld) {
  client.create(kPlots, plot("a", 1));
  EXPECT_TRUE(refusal_of([&] {
                client.watch(kPlots, {.in_namespace = space}, {.resource_version = "1", .timeout_seconds = 5},
                             [](const WatchEvent&) {});
              }).is_gone());
}

TEST_F(ClusterTest, IsMirroredThroughARestartOfTheServerThatForgets) {
  for (const char* const name : {"a", "b", "c"}) client.create(kPlots, plot(name, 1));
  Store<int> store([](const Json& object) { return object.at("spec").at("executors").get<int>(); });
  std::atomic<int> n_gone = 0;
  const Reflector reflector(
      client,
      {.resource = kPlots,
       .query = {.in_namespace = space},
       .log = [&](const std::string& line) { n_gone += line.find("HTTP status 410") != line.npos; }},
      store);
  ASSERT_TRUE(reflector.wait_until_synced(30));
  EXPECT_EQ(store.size(), 3U);
  client.merge_patch(kPlots, key("a"), {{"spec", {{"executors", 7}}}});
  client.remove(kPlots, key("b"));
  ASSERT_TRUE(comes_true([&] { return store.size() == 2 && *store.get(key("a")) == 7; }));

  // What the server keeps in memory of the past begins at what etcd has when it starts.
  for (int i = 0; i < 20; ++i) client.create(kConfigMaps, config_map(fmt::format("m{}", i)));
  kill_part("apiserver");
  ASSERT_TRUE(comes_true([&] {
    try {
      client.remove(kPlots, key("c"));
      return true;
    } catch (const Error&) {
      return false;
    }
  }));
  ASSERT_TRUE(comes_true([&] { return store.size() == 1; }));
  client.create(kPlots, plot("d", 4));
  EXPECT_TRUE(comes_true([&] { return store.get(key("d")) != nullptr; }));
  EXPECT_GE(n_gone, 1);
  EXPECT_EQ(reflector.counts().n_lists, 2U);
}

TEST_F(ClusterTest, IsMirroredThroughARestartOfEtcd) {
  client.create(kPlots, plot("a", 1));
  Store<int> store([](const Json& object) { return object.at("spec").at("executors").get<int>(); });
  const Reflector reflector(client, {.resource = kPlots, .query = {.in_namespace = space}}, store);
  ASSERT_TRUE(reflector.wait_until_synced(30));
  kill_part("etcd");
  ASSERT_TRUE(comes_true([&] {
    try {
      client.merge_patch(kPlots, key("a"), {{"spec", {{"executors", 2}}}});
      return true;
    } catch (const Error&) {
      return false;
    }
  }));
  EXPECT_TRUE(comes_true([&] { return *store.get(key("a")) == 2; }));
}

TEST_F(ClusterTest, RefusesWhoHasNoRightsAndWhoIsUnknown) {
  Client student(access_of("student"));
  EXPECT_NO_THROW(check_access(student));
  const ApiError refused = refusal_of([&] { student.list(kPods, {.in_namespace = space}); });
  EXPECT_TRUE(refused.is_forbidden());
  EXPECT_NE(std::string(refused.what()).find("User \"student\" cannot list resource \"pods\""), std::string::npos)
      << refused.what();
  Access unknown = access_of("admin");
  unknown.credentials = make_credentials({.token = "nonsense"});
  Client stranger(unknown);
  try {
    check_access(stranger);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("/version: Unauthorized; the credentials of context "), std::string::npos)
        << error.what();
  }
}

TEST_F(ClusterTest, ReportsThatANamespaceIsBeingDeleted) {
  Json held = config_map("held");
  held["metadata"]["finalizers"] = {"test.podere.io/held"};
  const ObjectKey other{space + "-b", "held"};
  client.create(kNamespaces, object_of(kNamespaces, {"", other.in_namespace}));
  held["metadata"]["namespace"] = other.in_namespace;
  client.create(kConfigMaps, held);
  client.remove(kNamespaces, {"", other.in_namespace});
  Json late = held;
  late["metadata"]["name"] = "late";
  const ApiError refused = refusal_of([&] { client.create(kConfigMaps, late); });
  EXPECT_TRUE(refused.is_namespace_terminating()) << refused.what();
  client.merge_patch(kConfigMaps, other, {{"metadata", {{"finalizers", nullptr}}}});
}

TEST_F(ClusterTest, ShowsEventsOfAnObject) {
  const Json made = client.create(kPlots, plot("noted", 1));
  {
    EventRecorder recorder(client, {.component = "client-test"});
    for (int i = 1; i <= 3; ++i) {
      recorder.record({kPlots, key("noted"), std::string(uid_of(made))}, EventRecorder::Type::kWarning, "Reclaimed",
                      fmt::format("executor {}", i));
      std::this_thread::sleep_for(1200ms);
    }
  }
  const auto events =
      client.list(kEvents, {.in_namespace = space, .fields = "involvedObject.uid=" + std::string(uid_of(made))});
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].at("count"), 3);
  EXPECT_EQ(events[0].at("message"), "executor 3");

  const Subprocess::Line described = [&] {
    Subprocess kubectl({{std::getenv("PODERE_TEST_KUBECTL"), "--kubeconfig", file("admin.kubeconfig"), "-n", space,
                         "describe", "plot", "noted"}});
    while (const auto line = kubectl.next_line(20000)) {
      if (line->text.find("Reclaimed") != std::string::npos) return *line;
    }
    return Subprocess::Line{};
  }();
  EXPECT_NE(described.text.find("(x3 over"), std::string::npos) << described.text;
}

/// A process that runs in the election and prints "leads" and "lost".
class Candidate {
 public:
  Candidate(const std::string& space, const std::string& name)
      : process_({{"/proc/self/exe", "candidate", space, name}}) {}

  /// Reads on. Whether it has said this.
  bool has_said(const std::string& word) {
    while (const auto line = process_.next_line(0)) said_ += line->text + " ";
    return said_.find(word) != std::string::npos;
  }
  void send(int signal) { kill(process_.pid(), signal); }

 private:
  Subprocess process_;
  std::string said_;
};

TEST_F(ClusterTest, HasOneLeaderOfThreeThroughDeathAndSleep) {
  std::map<std::string, std::unique_ptr<Candidate>> candidates;
  for (const char* const name : {"one", "two", "three"}) candidates[name] = std::make_unique<Candidate>(space, name);
  const auto wait_for_another = [&](const std::string& than) {
    std::string leader;
    EXPECT_TRUE(comes_true([&] {
      for (auto& [name, candidate] : candidates) {
        if (name != than && candidate->has_said("leads")) leader = name;
      }
      return !leader.empty();
    }));
    return leader;
  };
  const std::string first = wait_for_another("");
  std::this_thread::sleep_for(2s);
  for (auto& [name, candidate] : candidates) EXPECT_EQ(candidate->has_said("leads"), name == first);

  Stopwatch watch;
  candidates.at(first)->send(SIGKILL);
  candidates.erase(first);
  const std::string second = wait_for_another("");
  EXPECT_GE(watch.seconds(), kLeaseSeconds - 1) << "not before the lease of the dead has run out";

  candidates.at(second)->send(SIGSTOP);
  watch.restart();
  const std::string third = wait_for_another(second);
  EXPECT_GE(watch.seconds(), kLeaseSeconds - 1);
  EXPECT_FALSE(candidates.at(second)->has_said("lost"));
  candidates.at(second)->send(SIGCONT);
  EXPECT_TRUE(comes_true([&] { return candidates.at(second)->has_said("lost"); }));
  const Json lease = client.get(kLeases, key("operator"));
  EXPECT_EQ(text_at(lease, {"spec", "holderIdentity"}), third);
  EXPECT_EQ(lease.at("spec").at("leaseTransitions"), 2);

  candidates.at(third)->send(SIGTERM);
  EXPECT_TRUE(comes_true([&] {
    return text_at(client.get(kLeases, key("operator")), {"spec", "holderIdentity"}).empty();
  })) << "released";
}

std::atomic<bool> must_end = false;

int stand_for_election(const std::string& space, const std::string& name) {
  std::signal(SIGTERM, [](int) { must_end = true; });
  const auto say = [](const char* word) {
    std::puts(word);
    std::fflush(stdout);
  };
  const LeaderElection election(access_of("admin"), {.lease = {space, "operator"},
                                                     .identity = name,
                                                     .lease_seconds = kLeaseSeconds,
                                                     .renew_seconds = kLeaseSeconds / 2,
                                                     .retry_seconds = 0.3,
                                                     .on_start = [&] { say("leads"); },
                                                     .on_lost = [&] { say("lost"); }});
  while (!must_end) std::this_thread::sleep_for(10ms);
  return 0;
}

}  // namespace
}  // namespace podere::kube

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "candidate") return podere::kube::stand_for_election(argv[2], argv[3]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
