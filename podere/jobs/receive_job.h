// A table whose rows come from many processes at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "podere/jobs/job.h"

namespace podere::jobs {

/// Keeps a table of partitions that others send, such as the executors of Apache Spark (docs/spark.md).
///
/// Each executor connects to `host`:`port`, where the process that asked for the job listens, and writes a line
/// {"token", "group", "executor", "executors", "address", "port"}: where it takes partitions, as io::RowInlet.
/// That process answers with one line: {"rows": [...]}, of each partition, once all were sent, or {"abandon": "why"}.
/// If it ends the connection without, the job fails too. Result: "tables", as of LoadJob, and "rounded" as "files" have
/// it.
struct ReceiveJob {
  static constexpr const char* kKind = "receive";

  std::string name;
  std::string token;
  std::string host;
  int port = 0;
  std::vector<std::string> features;
  std::vector<std::size_t> blocks;    ///< as of io::RowLayout
  Json kinds = Json::object();        ///< as of io::RemoteArrays
  std::optional<std::string> label;   ///< of this name
  std::vector<std::string> classes;   ///< as of io::RemoteArrays
  std::optional<std::string> weight;  ///< of this name
  std::string cache;                  ///< as of LoadJob
  bool was_received = false;          ///< before, by executors that are lost

  void note_result(const Json& /*result*/) { was_received = true; }

  static void visit_fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("token", self.token);
    visit("host", self.host);
    visit("port", self.port);
    visit("features", self.features);
    visit("blocks", self.blocks);
    visit("kinds", self.kinds);
    visit("label", self.label);
    visit("classes", self.classes);
    visit("weight", self.weight);
    visit("cache", self.cache, PathUse::kCache);
    visit("was_received", self.was_received);
  }
};
Json run(const ReceiveJob& job, const JobContext& context);

}  // namespace podere::jobs
