#include "podere/kube/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "podere/base/interrupt.h"
#include "podere/base/printable.h"
#include "podere/kube/waiting.h"

namespace podere::kube {
namespace {

constexpr std::size_t kMaxErrorBytes = 64U << 10;
constexpr double kLongestPauseSeconds = 60;  // whatever the server asks for

bool is_error(int status) { return status < 200 || status > 299; }

/// Whether the server says to come again, not having done anything.
bool is_later(const HttpHead& head) { return head.retry_after_seconds && (head.status == 429 || head.status >= 500); }

}  // namespace

class Client::Exchange::Borrowed {
 public:
  explicit Borrowed(Exchange& from) : from_(from) {
    {
      const std::scoped_lock lock(from_.mutex_);
      if (!from_.idle_.empty()) {
        connection_ = std::move(from_.idle_.back());
        from_.idle_.pop_back();
        return;
      }
    }
    connection_ = std::make_unique<HttpConnection>(from_.access_, "podere/" PODERE_VERSION);
  }
  ~Borrowed() {
    const std::scoped_lock lock(from_.mutex_);
    from_.idle_.push_back(std::move(connection_));
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  HttpConnection* operator->() const { return connection_.get(); }

 private:
  Exchange& from_;
  std::unique_ptr<HttpConnection> connection_;
};

Client::Exchange::Exchange(Access access, ClientOptions options)
    : access_(std::move(access)), options_(std::move(options)), turns_(options_.requests_per_second, options_.burst) {}

std::string Client::Exchange::asked(const std::string& method, const std::string& target) const {
  return fmt::format("{} {}{}", method, access_.server, target.substr(0, target.find('?')));
}

void Client::Exchange::wait_for_turn(const std::stop_token& stop) {
  const double seconds = [&] {
    const std::scoped_lock lock(mutex_);
    return turns_.take(clock_.seconds());
  }();
  if (seconds > 0) wait_for(seconds, stop);
  if (stop.stop_requested()) throw Interrupted();
}

Json Client::Exchange::ask(HttpRequest request, Patience patience) {
  request.timeout_seconds = options_.timeout_seconds;
  std::string text;
  stream(
      request,
      [&](std::string_view bytes) {
        text += bytes;
        if (text.size() > options_.max_object_bytes) {
          throw ConnectionError(fmt::format("{}: the answer has more than {} bytes",
                                            asked(request.method, request.target), options_.max_object_bytes));
        }
      },
      {}, patience);
  try {
    return parse_object(text);
  } catch (const Error& error) {
    throw ConnectionError(fmt::format("{}: the answer {}; check that {} names an API server of Kubernetes",
                                      asked(request.method, request.target), error.what(), access_.origin));
  }
}

void Client::Exchange::stream(const HttpRequest& request, const std::function<void(std::string_view bytes)>& take,
                              const std::stop_token& stop, Patience patience) {
  std::stop_source either;
  const std::stop_callback by_client(stop_.get_token(), [&] { either.request_stop(); });
  const std::stop_callback by_caller(stop, [&] { either.request_stop(); });
  bool has_renewed = false;
  for (int n_retries = 0;;) {
    wait_for_turn(either.get_token());
    const Credentials credentials = access_.credentials->current();
    std::string refusal;
    const HttpHead head = Borrowed(*this)->perform(
        request, credentials,
        [&](const HttpHead& begun, std::string_view bytes) {
          if (!is_error(begun.status)) return take(bytes);
          refusal += bytes.substr(0, std::min(bytes.size(), kMaxErrorBytes - refusal.size()));
        },
        either.get_token());
    if (!is_error(head.status)) return;
    if (head.status == 401 && !std::exchange(has_renewed, true) && access_.credentials->refuse(credentials)) continue;
    if (!is_later(head) || patience == Patience::kNone || n_retries++ >= options_.max_retries) {
      refuse(request, head, refusal, credentials);
    }
    const std::scoped_lock lock(mutex_);
    turns_.pause_until(clock_.seconds() + std::min(*head.retry_after_seconds, kLongestPauseSeconds));
  }
}

void Client::Exchange::refuse(const HttpRequest& request, const HttpHead& head, const std::string& body,
                              const Credentials& credentials) const {
  const std::string question = asked(request.method, request.target);
  if (head.status < 400 || head.content_type.starts_with("text/html")) {
    throw ConnectionError(fmt::format(
        "{}: is answered by something else (HTTP status {}{}{}); check that {} names an API server of Kubernetes",
        question, head.status, head.content_type.empty() ? "" : ", ", printable_line(head.content_type, 80),
        access_.origin));
  }
  std::string advice;
  if (head.status == 401) {
    const std::string fault = fault_of(credentials);
    advice = fmt::format("; the credentials of {} are refused{}{}: log in again, or ask for new ones", access_.origin,
                         fault.empty() ? "" : ", ", fault);
  }
  throw api_error(question, head.status, body, head.retry_after_seconds, advice);
}

}  // namespace podere::kube
