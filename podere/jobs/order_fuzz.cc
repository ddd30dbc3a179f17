// libFuzzer program of orders. Lines that a driver may send give jobs, or failures of one line that fit into one write;
// a job that is written and read again is the same. Anything else that is thrown ends the program.
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string>
#include <string_view>

#include "podere/base/error.h"
#include "podere/catalog/catalog.h"
#include "podere/jobs/event_stream.h"
#include "podere/jobs/job.h"

namespace {

using podere::Json;
using podere::jobs::Job;

constexpr std::string_view kEnd = "\n{\"end\":true}\n";

/// A file in memory, at its beginning.
int file_of(std::string_view bytes) {
  const int descriptor = memfd_create("lines", MFD_CLOEXEC);
  if (descriptor < 0 || write(descriptor, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) abort();
  lseek(descriptor, 0, SEEK_SET);
  return descriptor;
}

std::string content_of(int descriptor) {
  std::string bytes(static_cast<std::size_t>(lseek(descriptor, 0, SEEK_END)), '\0');
  if (pread(descriptor, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) abort();
  return bytes;
}

void check_events(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.empty()) continue;
    const Json event = Json::parse(line, nullptr, false);
    if (line.size() < PIPE_BUF && event.is_object() && event.contains("event")) continue;
    fmt::print(stderr, "no event: {}\n", line);
    std::abort();
  }
}

void check_options(const podere::algorithm::Algorithm& algorithm, const Json& options) {
  try {
    algorithm.trainer(options);
  } catch (const podere::InputError&) {
    // as it should be
  }
}

void check_job(const Json& json) {
  try {
    const Job job = podere::jobs::job_from_json(json);
    const Json written = to_json(job);
    for (const podere::algorithm::Algorithm* algorithm : podere::catalog::algorithms()) {
      if (written.contains("options")) check_options(*algorithm, written["options"]);
    }
    if (to_json(podere::jobs::job_from_json(written)) == written) return;
    fmt::print(stderr, "not the same when written and read: {}\n", written.dump());
  } catch (const podere::InputError& error) {
    const std::string_view message = error.what();
    if (!message.empty() && message.find_first_of("\n\r\x1b") == std::string_view::npos) return;
    fmt::print(stderr, "no line: {}\n", message);
  }
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  const int orders = file_of(std::string(reinterpret_cast<const char*>(bytes), n_bytes).append(kEnd));
  const int events = file_of("");
  {
    podere::jobs::EventWriter writer(events);
    podere::jobs::OrderReader reader(orders, writer);
    while (const auto order = reader.next()) {
      check_job(order->job);
      if (reader.take_checkpoint_order() && reader.is_paused() && reader.is_cancelled()) continue;
    }
  }
  check_events(content_of(events));
  close(orders);
  close(events);
  return 0;
}
