// Asking the API server.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "podere/kube/access.h"
#include "podere/kube/api_error.h"
#include "podere/kube/object.h"
#include "podere/kube/watch_stream.h"

namespace podere::kube {

struct ClientOptions {
  double requests_per_second = 20;          ///< in the long run; others wait their turn
  double burst = 30;                        ///< requests that need not wait after a rest
  double timeout_seconds = 30;              ///< of a request; lists and watches have their own
  int max_retries = 5;                      ///< of a request to which the server answers "later" (Retry-After)
  std::size_t max_object_bytes = 8U << 20;  ///< larger ones are refused; etcd stores up to 1.5 MiB
  std::string manager = "podere";           ///< who changes fields, but for apply()
};

/// Which objects of a kind. Empty: no condition.
struct Query {
  std::string in_namespace = {};
  std::string labels = {};  ///< such as "farm=astro,!driver"
  std::string fields = {};  ///< such as "spec.nodeName=n1"
};

struct ListOptions {
  std::string resource_version = {};  ///< "0": whatever the server has at hand, perhaps old; empty: what holds now
  int page_size = 500;                ///< objects a request; the server may ignore it for "0"
};

struct WatchOptions {
  std::string resource_version = {};  ///< events after this one; of a list or an event
  double timeout_seconds = 300;       ///< the server ends the watch then
  double silence_seconds = 0;         ///< longest time without a byte; 0: any
};

struct ApplyOptions {
  std::string manager;     ///< owns the fields that it applies; another name than of create(), replace(), merge_patch()
  bool is_forced = false;  ///< also overwrites fields that others own
};

struct DeleteOptions {
  std::string uid = {};               ///< only this very object, not one of the same name; else is_conflict()
  std::string resource_version = {};  ///< only if it has not changed
  std::optional<int> grace_seconds = {};
  std::string propagation = {};  ///< "Background", "Foreground" or "Orphan"; empty: as the kind has it
};

/// Talks to one API server. Any number of threads may use it at a time; each request waits for its turn (TokenBucket)
/// and, if the server is busy, as long as that says.
///
/// All throw ApiError if the server refuses, ConnectionError if there is no proper answer, InputError for names that
/// cannot be or credentials that cannot be had, and Interrupted after stop(). Credentials that were refused are renewed
/// once.
class Client {
 public:
  explicit Client(Access access, ClientOptions options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Access& access() const;

  Json get(const Resource& resource, const ObjectKey& key);
  /// Nothing if there is no such object.
  std::optional<Json> find(const Resource& resource, const ObjectKey& key);
  std::vector<Json> list(const Resource& resource, const Query& query = {});

  Json create(const Resource& resource, const Json& object);
  /// A dry run of create(): throws as that does, as far as the server knows, and makes nothing.
  void check_create(const Resource& resource, const Json& object);
  /// The object as a whole. If it has a resource version and has changed, is_conflict().
  Json replace(const Resource& resource, const Json& object);
  /// RFC 7386: members replace those of the object, null removes. With a resource version as replace().
  Json merge_patch(const Resource& resource, const ObjectKey& key, const Json& patch);
  /// Server-side apply: the object will have these fields, and no longer those that the manager applied before and
  /// leaves out now. Makes the object if there is none. is_conflict() if others own one of them. For the status:
  /// apply(kFarms.sub("status"), ...).
  Json apply(const Resource& resource, const Json& object, const ApplyOptions& options);
  /// Returns when deletion has begun: finalizers and grace may keep the object.
  void remove(const Resource& resource, const ObjectKey& key, const DeleteOptions& options = {});
  /// Deletes a pod unless a PodDisruptionBudget forbids it: then is_from_disruption_budget(), at once.
  void evict(const ObjectKey& pod, const DeleteOptions& options = {});

  /// Gives the objects one by one, page by page, with `apiVersion` and `kind`, and returns the resource version from
  /// which to watch. Needs the memory of the largest object. `begin` comes first; if it comes again, the pages grew too
  /// old and all is reported anew.
  std::string list_each(const Resource& resource, const Query& query, const ListOptions& options,
                        const std::function<void()>& begin, const std::function<void(Json object)>& take,
                        const std::stop_token& stop = {});

  /// Gives what happens, on this thread, until the server ends the watch. is_gone() if it does not know as far back,
  /// SilenceError if it says nothing for too long. Bookmarks come once a minute, but not to a watch that knows all.
  void watch(const Resource& resource, const Query& query, const WatchOptions& options,
             const std::function<void(WatchEvent event)>& take, const std::stop_token& stop = {});

  /// What a path such as "/version" gives.
  Json ask(const std::string& path);

  /// Ends all requests, also those to come: they throw Interrupted.
  void stop();

 private:
  Json post(const Resource& resource, const Json& object, const char* dry_run);

  class Exchange;
  std::unique_ptr<Exchange> exchange_;
};

/// The server's version, such as "v1.29.14". Throws InputError, in words for the user, if no server answers, if it is
/// no API server, and if the credentials are refused: for the start of a command.
std::string check_access(Client& client);

}  // namespace podere::kube
