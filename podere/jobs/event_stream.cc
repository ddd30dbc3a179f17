#include "podere/jobs/event_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json_text.h"
#include "podere/base/line_buffer.h"

namespace podere::jobs {
namespace {

std::string to_line(const Json& event) { return to_text(event) + "\n"; }

}  // namespace

void EventWriter::write(const Json& event) { write_bytes(to_line(event)); }

void EventWriter::write_failure(const Json& id, FailureKind kind, int rank, std::string_view message) {
  std::string line;
  std::size_t length = std::min<std::size_t>(message.size(), PIPE_BUF / 2);
  do {  // escapes make a text longer, so what fits is found by trying
    const Json event = {{"event", "failed"},
                        {"id", id},
                        {"kind", kind == FailureKind::kInput ? "input" : "internal"},
                        {"rank", rank},
                        {"message", std::string(message.substr(0, length))}};
    // It may fall into the middle of another rank's line.
    line = "\n";
    line += to_line(event);
    length /= 2;
  } while (line.size() > PIPE_BUF && length > 0);
  write_bytes(line);
}

void EventWriter::write_bytes(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;  // the driver is gone, which the OrderReader learns too
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string host_name() {
  std::array<char, 256> name = {};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

int take_over_stdout() {
  const int descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (descriptor < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) throw Error("executor: there is no standard output");
  return descriptor;
}

OrderReader::OrderReader(int descriptor, EventWriter& events)
    : events_(events), thread_([this, descriptor] { read_lines(descriptor); }) {}

OrderReader::~OrderReader() { thread_.join(); }

std::optional<Order> OrderReader::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return has_ended_ || !orders_.empty(); });
  if (orders_.empty()) return std::nullopt;
  Order order = std::move(orders_.front());
  orders_.pop_front();
  running_ = order.id;
  is_cancelled_ = is_paused_ = wants_checkpoint_ = false;
  return order;
}

bool OrderReader::take(const std::string& line) {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return true;
  const Json json = is_nested_deeper_than(line, kMaxJsonDepth) ? Json() : Json::parse(line, nullptr, false);
  const std::lock_guard lock(mutex_);
  if (json.is_object() && json.contains("job")) {
    orders_.push_back({json.value("id", Json()), json["job"]});
  } else if (json.is_object() && json.contains("cancel")) {
    const Json& id = json["cancel"];
    if (id == running_) is_cancelled_ = true;
    std::erase_if(orders_, [&](const Order& order) { return order.id == id; });
  } else if (json.is_object() && json.contains("checkpoint")) {
    if (json["checkpoint"] == running_) wants_checkpoint_ = true;
  } else if (json.is_object() && json.contains("pause")) {
    if (json["pause"] == running_) is_paused_ = wants_checkpoint_ = true;
  } else if (json.is_object() && json.contains("end") && json["end"] == true) {
    has_ended_ = true;
  } else {
    events_.write_failure(
        nullptr, FailureKind::kInput, 0,
        "an order is {\"id\":1,\"job\":{...}}, {\"cancel\":1}, {\"checkpoint\":1}, {\"pause\":1} or {\"end\":true}, "
        "not " +
            line);
  }
  changed_.notify_all();
  return !has_ended_;
}

void OrderReader::read_lines(int descriptor) {
  LineBuffer lines;
  std::array<char, 65536> chunk;
  while (true) {
    while (const auto line = lines.take_line()) {
      if (!take(*line)) return;
    }
    const ssize_t n = read(descriptor, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    // Without finalizing MPI: mpirun and srun end the group when one process leaves it so.
    if (n <= 0) std::_Exit(EXIT_FAILURE);
    lines.append({chunk.data(), static_cast<std::size_t>(n)});
  }
}

}  // namespace podere::jobs
