#include "podere/kube/client.h"

#include <fmt/format.h>

#include <utility>

#include "podere/kube/exchange.h"
#include "podere/kube/list_scanner.h"

namespace podere::kube {
namespace {

constexpr double kListTimeoutSeconds = 600;
constexpr double kListSilenceSeconds = 60;
constexpr double kWatchSlackSeconds = 30;  // after the server should have ended it
constexpr const char* kJson = "application/json";

/// As in a query: all but the unreserved characters of RFC 3986 escaped.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                          c == '.' || c == '_' || c == '~';
    result += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

/// `path` with those parameters that are not empty.
std::string with_parameters(const std::string& path,
                            const std::vector<std::pair<const char*, std::string>>& parameters) {
  std::string target = path;
  for (const auto& [name, value] : parameters) {
    if (!value.empty()) target += fmt::format("{}{}={}", target == path ? '?' : '&', name, escaped(value));
  }
  return target;
}

Json to_json(const DeleteOptions& options) {
  Json json{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!options.uid.empty()) json["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) json["preconditions"]["resourceVersion"] = options.resource_version;
  if (options.grace_seconds) json["gracePeriodSeconds"] = *options.grace_seconds;
  if (!options.propagation.empty()) json["propagationPolicy"] = options.propagation;
  return json;
}

}  // namespace

Client::Client(Access access, ClientOptions options)
    : exchange_(std::make_unique<Exchange>(std::move(access), std::move(options))) {}
Client::~Client() = default;

const Access& Client::access() const { return exchange_->access(); }
void Client::stop() { exchange_->stop(); }

Json Client::ask(const std::string& path) { return exchange_->ask({.target = path}); }

Json Client::get(const Resource& resource, const ObjectKey& key) { return ask(resource.path(key)); }

std::optional<Json> Client::find(const Resource& resource, const ObjectKey& key) {
  try {
    return get(resource, key);
  } catch (const ApiError& error) {
    if (!error.is_not_found()) throw;
    return std::nullopt;
  }
}

std::vector<Json> Client::list(const Resource& resource, const Query& query) {
  std::vector<Json> objects;
  list_each(
      resource, query, {}, [&] { objects.clear(); }, [&](Json object) { objects.push_back(std::move(object)); });
  return objects;
}

Json Client::create(const Resource& resource, const Json& object) { return post(resource, object, ""); }

void Client::check_create(const Resource& resource, const Json& object) { post(resource, object, "All"); }

Json Client::post(const Resource& resource, const Json& object, const char* dry_run) {
  const ObjectKey key = key_of(object);
  // The name of an object is in its path but when it is made.
  const std::string path = resource.path(resource.part.empty() ? ObjectKey{key.in_namespace, ""} : key);
  return exchange_->ask(
      {.method = "POST",
       .target = with_parameters(path, {{"fieldManager", exchange_->options().manager}, {"dryRun", dry_run}}),
       .content_type = kJson,
       .body = object.dump()});
}

Json Client::replace(const Resource& resource, const Json& object) {
  const std::string path = resource.path(key_of(object));
  return exchange_->ask({.method = "PUT",
                         .target = with_parameters(path, {{"fieldManager", exchange_->options().manager}}),
                         .content_type = kJson,
                         .body = object.dump()});
}

Json Client::merge_patch(const Resource& resource, const ObjectKey& key, const Json& patch) {
  return exchange_->ask(
      {.method = "PATCH",
       .target = with_parameters(resource.path(key), {{"fieldManager", exchange_->options().manager}}),
       .content_type = "application/merge-patch+json",
       .body = patch.dump()});
}

Json Client::apply(const Resource& resource, const Json& object, const ApplyOptions& options) {
  return exchange_->ask(
      {.method = "PATCH",
       .target = with_parameters(resource.path(key_of(object)),
                                 {{"fieldManager", options.manager}, {"force", options.is_forced ? "true" : ""}}),
       .content_type = "application/apply-patch+yaml",  // JSON is YAML
       .body = object.dump()});
}

void Client::remove(const Resource& resource, const ObjectKey& key, const DeleteOptions& options) {
  exchange_->ask(
      {.method = "DELETE", .target = resource.path(key), .content_type = kJson, .body = to_json(options).dump()});
}

void Client::evict(const ObjectKey& pod, const DeleteOptions& options) {
  Json eviction = object_of({"policy", "v1", "Eviction", ""}, pod);
  eviction["deleteOptions"] = to_json(options);
  exchange_->ask(
      {.method = "POST", .target = kPods.sub("eviction").path(pod), .content_type = kJson, .body = eviction.dump()},
      Exchange::Patience::kNone);
}

std::string Client::list_each(const Resource& resource, const Query& query, const ListOptions& options,
                              const std::function<void()>& begin, const std::function<void(Json object)>& take,
                              const std::stop_token& stop) {
  const std::string path = resource.path({query.in_namespace, ""});
  const std::string asked = exchange_->asked("GET", path);
  const auto complete = [&](Json object) {
    object["apiVersion"] = resource.api_version();  // which lists of built-in kinds leave out
    object["kind"] = resource.kind;
    take(std::move(object));
  };
  std::string resource_version = options.resource_version;
  std::string next_page;
  int page_size = options.page_size;
  begin();
  while (true) {
    const std::string target = with_parameters(path, {{"labelSelector", query.labels},
                                                      {"fieldSelector", query.fields},
                                                      {"limit", page_size > 0 ? std::to_string(page_size) : ""},
                                                      {"resourceVersion", next_page.empty() ? resource_version : ""},
                                                      {"continue", next_page}});
    ListScanner scanner(asked, exchange_->options().max_object_bytes, complete);
    try {
      exchange_->stream(
          {.target = target, .timeout_seconds = kListTimeoutSeconds, .silence_seconds = kListSilenceSeconds},
          [&](std::string_view bytes) { scanner.feed(bytes); }, stop);
    } catch (const ApiError& error) {
      if (!error.is_gone() || next_page.empty()) throw;
      // The server has forgotten how things were at the first page. All at once cannot grow old.
      next_page.clear();
      resource_version.clear();
      page_size = 0;
      begin();
      continue;
    }
    const Json list = scanner.finish();
    next_page = text_at(list, {"metadata", "continue"});
    if (next_page.empty()) return std::string(resource_version_of(list));
  }
}

void Client::watch(const Resource& resource, const Query& query, const WatchOptions& options,
                   const std::function<void(WatchEvent event)>& take, const std::stop_token& stop) {
  const std::string path = resource.path({query.in_namespace, ""});
  const std::string target =
      with_parameters(path, {{"watch", "1"},
                             {"allowWatchBookmarks", "true"},
                             {"labelSelector", query.labels},
                             {"fieldSelector", query.fields},
                             {"resourceVersion", options.resource_version},
                             {"timeoutSeconds", fmt::format("{:.0f}", options.timeout_seconds)}});
  WatchStream events(exchange_->asked("GET", path), exchange_->options().max_object_bytes, take);
  exchange_->stream(
      {.target = target,
       .timeout_seconds = options.timeout_seconds + kWatchSlackSeconds,
       .silence_seconds = options.silence_seconds},
      [&](std::string_view bytes) { events.feed(bytes); }, stop);
}

std::string check_access(Client& client) {
  const std::string& origin = client.access().origin;
  try {
    const Json version = client.ask("/version");
    if (const auto text = text_at(version, {"gitVersion"}); !text.empty()) return std::string(text);
    throw_input_error("{}: the server that answers is no API server of Kubernetes; check the server of {}",
                      client.access().server, origin);
  } catch (const ApiError& error) {
    throw_input_error("{}", error.what());
  } catch (const ConnectionError& error) {
    throw_input_error("{}", error.what());
  }
}

}  // namespace podere::kube
